package io.punctual.server.dispatch.callback;

import io.punctual.wire.Limits;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/** Reads Retry-After (RFC 9110, 10.2.3): seconds or a date; nonsense counts as absent. */
final class RetryAfter {

  private RetryAfter() {}

  /**
   * @param header as it came; null if it did not
   */
  static @Nullable Duration of(@Nullable String header, InstantSource clock) {
    String value = header == null ? "" : header.strip();
    if (value.matches("\\d{1,12}")) {
      return clamp(Duration.ofSeconds(Long.parseLong(value)));
    }
    try {
      Instant date = ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
      return clamp(Duration.between(clock.instant(), date));
    } catch (DateTimeParseException e) {
      return null;
    }
  }

  private static Duration clamp(Duration wanted) {
    if (wanted.isNegative()) {
      return Duration.ZERO;
    }
    return wanted.compareTo(Limits.MAX_RETRY_DELAY) > 0 ? Limits.MAX_RETRY_DELAY : wanted;
  }
}
