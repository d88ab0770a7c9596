package io.punctual;

import io.punctual.wire.Durations;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The delays after failed attempts, and the number of attempts of a job.
 *
 * <p>Has one text form, used in properties, on the wire and in storage, read by {@link #parse}:
 *
 * <ul>
 *   <li>a ladder of delays: {@code 0s,0s,2m,10m,10m,1h,2h,6h,15h}. The first delay follows the
 *       first failed attempt; with more attempts than steps the last step repeats;
 *   <li>exponential: {@code exponential(2s,1h)} or {@code exponential(2s,1h,0.5)}: base, cap and
 *       jitter;
 *   <li>either with {@code ;attempts=N} behind it;
 *   <li>the name of a preset: {@code default}, {@code notify}, {@code never}.
 * </ul>
 *
 * <p>A delay is a number with one of {@code ms s m h d}, or an ISO-8601 duration. It is a whole
 * number of milliseconds.
 */
public sealed interface RetryPolicy permits RetryPolicy.Ladder, RetryPolicy.Exponential {

  /** Ten attempts, from 5 seconds up to an hour apart, with half of each delay random. */
  RetryPolicy DEFAULT =
      new Exponential(Duration.ofSeconds(5), Duration.ofHours(1), 0.5, /* maxAttempts= */ 10);

  /** The ladder of payment notifications: 0s, 0s, 2m, 10m, 10m, 1h, 2h, 6h, 15h. */
  RetryPolicy NOTIFY = parse("0s,0s,2m,10m,10m,1h,2h,6h,15h");

  /** One attempt: a failed job is a dead letter at once. */
  RetryPolicy NEVER = new Ladder(List.of(), 1);

  /** The presets by name. */
  Map<String, RetryPolicy> PRESETS = Map.of("default", DEFAULT, "notify", NOTIFY, "never", NEVER);

  /** Attempts in all, the first one included; 1 to {@link Limits#MAX_ATTEMPTS}. */
  int maxAttempts();

  /**
   * The wait before the next attempt.
   *
   * @param failures attempts that counted so far, 1 or more
   * @param random source of the jitter
   */
  Duration delayAfter(int failures, RandomGenerator random);

  /** The text form, which {@link #parse} reads back to an equal policy. */
  String text();

  /** A ladder of delays; steps that are reached later than its end take the last delay. */
  record Ladder(List<Duration> delays, int maxAttempts) implements RetryPolicy {

    /** Checks the ranges given in {@link Limits}. */
    public Ladder {
      delays = List.copyOf(delays);
      requireAttempts(maxAttempts);
      if (delays.size() > Limits.MAX_LADDER_STEPS) {
        throw new IllegalArgumentException(
            "a retry ladder has at most " + Limits.MAX_LADDER_STEPS + " steps");
      }
      if (delays.isEmpty() && maxAttempts > 1) {
        throw new IllegalArgumentException("a retry ladder without steps allows one attempt only");
      }
      delays.forEach(RetryPolicy::requireDelay);
    }

    @Override
    public Duration delayAfter(int failures, RandomGenerator random) {
      return delays.isEmpty()
          ? Duration.ZERO
          : delays.get(Math.min(Math.max(failures, 1), delays.size()) - 1);
    }

    @Override
    public String text() {
      if (delays.isEmpty()) {
        return "never";
      }
      String steps = String.join(",", delays.stream().map(Durations::format).toList());
      return maxAttempts == delays.size() + 1 ? steps : steps + ";attempts=" + maxAttempts;
    }
  }

  /**
   * Delays that double from {@code base} up to {@code cap}; the part {@code jitter} of each delay
   * is random, so that jobs that failed together do not come back together.
   */
  record Exponential(Duration base, Duration cap, double jitter, int maxAttempts)
      implements RetryPolicy {

    /** Checks the ranges given in {@link Limits}; the jitter is 0 to 1. */
    public Exponential {
      requireDelay(base);
      requireDelay(cap);
      requireAttempts(maxAttempts);
      if (base.isZero() || base.compareTo(cap) > 0) {
        throw new IllegalArgumentException(
            "exponential retry needs 0 < base <= cap, not base " + base + " and cap " + cap);
      }
      if (!(jitter >= 0 && jitter <= 1)) {
        throw new IllegalArgumentException("jitter must be between 0 and 1, not " + jitter);
      }
    }

    @Override
    public Duration delayAfter(int failures, RandomGenerator random) {
      double doubled = (double) base.toMillis() * Math.pow(2, Math.max(failures, 1) - 1.0);
      double full = Math.min(doubled, (double) cap.toMillis());
      return Duration.ofMillis(Math.round(full * (1 - jitter * random.nextDouble())));
    }

    @Override
    public String text() {
      // Not formatted: the text is stored, and must not follow the locale of this machine.
      return "exponential("
          + Durations.format(base)
          + ","
          + Durations.format(cap)
          + ","
          + jitter
          + ");attempts="
          + maxAttempts;
    }
  }

  /**
   * Reads the text form.
   *
   * @throws IllegalArgumentException if the text is not one; the message says what is wrong
   */
  static RetryPolicy parse(String text) {
    RetryPolicy preset = PresetHolder.byName(text.strip());
    if (preset != null) {
      return preset;
    }
    String[] parts = text.strip().split(";", -1);
    if (parts.length > 2 || parts[0].isBlank()) {
      throw unreadable(text);
    }
    Integer attempts = null;
    if (parts.length == 2) {
      Matcher matcher = Pattern.compile("attempts=(\\d{1,6})").matcher(parts[1].strip());
      if (!matcher.matches()) {
        throw unreadable(text);
      }
      attempts = Integer.valueOf(matcher.group(1));
    }
    String shape = parts[0].strip();
    if (shape.startsWith("exponential(") && shape.endsWith(")")) {
      String[] arguments =
          shape.substring("exponential(".length(), shape.length() - 1).split(",", -1);
      if (arguments.length < 2 || arguments.length > 3) {
        throw unreadable(text);
      }
      return new Exponential(
          parseDelay(arguments[0], text),
          parseDelay(arguments[1], text),
          arguments.length == 3 ? parseJitter(arguments[2]) : 0.5,
          attempts == null ? 10 : attempts);
    }
    List<Duration> delays = new ArrayList<>();
    for (String step : shape.split(",", -1)) {
      delays.add(parseDelay(step, text));
    }
    return new Ladder(delays, attempts == null ? delays.size() + 1 : attempts);
  }

  /** Breaks the initialisation cycle between {@link #parse} and the presets. */
  final class PresetHolder {
    private PresetHolder() {}

    private static @org.jspecify.annotations.Nullable RetryPolicy byName(String name) {
      return switch (name) {
        case "default" -> DEFAULT;
        case "notify" -> NOTIFY;
        case "never" -> NEVER;
        default -> null;
      };
    }
  }

  private static double parseJitter(String text) {
    try {
      return Double.parseDouble(text.strip());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("not a jitter between 0 and 1: '" + text + "'", e);
    }
  }

  private static Duration parseDelay(String delay, String policy) {
    try {
      return Durations.parse(delay.strip());
    } catch (IllegalArgumentException e) {
      throw unreadable(policy, " ('" + delay.strip() + "' is not a duration)");
    }
  }

  private static void requireDelay(Duration delay) {
    if (delay.isNegative() || delay.compareTo(Limits.MAX_RETRY_DELAY) > 0) {
      throw new IllegalArgumentException(
          "a retry delay must be between 0 and " + Limits.MAX_RETRY_DELAY + ", not " + delay);
    }
    if (!delay.truncatedTo(ChronoUnit.MILLIS).equals(delay)) {
      throw new IllegalArgumentException(
          "a retry delay must be whole milliseconds, not " + delay + "; round it to 1ms or more");
    }
  }

  private static void requireAttempts(int maxAttempts) {
    if (maxAttempts < 1 || maxAttempts > Limits.MAX_ATTEMPTS) {
      throw new IllegalArgumentException(
          "attempts must be between 1 and " + Limits.MAX_ATTEMPTS + ", not " + maxAttempts);
    }
  }

  private static IllegalArgumentException unreadable(String text) {
    return unreadable(text, "");
  }

  private static IllegalArgumentException unreadable(String text, String why) {
    return new IllegalArgumentException(
        "not a retry policy: '"
            + text
            + "'"
            + why
            + "; write delays such as 0s,2m,10m or exponential(2s,1h,0.5), ';attempts=N' behind it"
            + " where wanted, or default, notify, never");
  }
}
