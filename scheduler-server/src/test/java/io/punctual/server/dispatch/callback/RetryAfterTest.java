package io.punctual.server.dispatch.callback;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.wire.Limits;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RetryAfterTest {

  private static final InstantSource CLOCK =
      InstantSource.fixed(Instant.parse("2026-11-22T08:00:00Z"));

  private static @Nullable Duration read(String value) {
    return RetryAfter.of(value, CLOCK);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0 | PT0S",
        "7 | PT7S",
        "Sun, 22 Nov 2026 08:01:00 GMT | PT1M",
        "Sun, 22 Nov 2026 07:00:00 GMT | PT0S"
      })
  void secondsAndDatesAreRead(String value, Duration expected) {
    assertThat(read(value)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"999999999999", "Fri, 22 Nov 2999 08:00:00 GMT"})
  void nobodyIsLeftAloneForEver(String value) {
    assertThat(read(value)).isEqualTo(Limits.MAX_RETRY_DELAY);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-1", "1.5", "soon", "1000000000000000", "2026-11-22T08:00:00Z"})
  void nonsenseCountsAsAbsent(String value) {
    assertThat(read(value)).isNull();
  }

  @Test
  void absentIsAbsent() {
    assertThat(RetryAfter.of(null, CLOCK)).isNull();
  }
}
