package io.punctual.server.history;

import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;

/** The length of the history that is shown, and of its intervals. */
public enum Span {
  QUARTER("15m", Duration.ofMinutes(15), Duration.ofSeconds(10)),
  HOUR("1h", Duration.ofHours(1), Duration.ofSeconds(30)),
  SIX_HOURS("6h", Duration.ofHours(6), Duration.ofMinutes(3)),
  DAY("24h", Duration.ofDays(1), Duration.ofMinutes(10));

  private final String word;
  private final Duration length;
  private final Duration width;

  Span(String word, Duration length, Duration width) {
    this.word = word;
    this.length = length;
    this.width = width;
  }

  /** Returns the span of that word, such as {@code 15m}. */
  public static Optional<Span> of(String word) {
    return Arrays.stream(values()).filter(span -> span.word.equals(word)).findFirst();
  }

  /** Returns its name in addresses. */
  public String word() {
    return word;
  }

  public Duration length() {
    return length;
  }

  /** Returns the length of an interval. */
  public Duration width() {
    return width;
  }
}
