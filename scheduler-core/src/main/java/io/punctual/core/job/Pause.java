package io.punctual.core.job;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Why and until when a queue hands out nothing. Times are epoch ms of the store.
 *
 * @param until when it ends by itself; null for when it is resumed
 * @param by the operator or the application that paused; empty if that is not known
 * @param reason as it was given; empty for none
 */
public record Pause(Scope scope, long since, @Nullable Long until, String by, String reason) {

  /** Most characters of a reason. */
  public static final int MAX_REASON = 60;

  /** Most characters of a name. */
  public static final int MAX_NAME = 128;

  /** The longest pause that ends by itself. */
  public static final Duration LONGEST = Duration.ofDays(366);

  // What a console cannot show.
  private static final Pattern UNPRINTABLE =
      Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}]");
  private static final Pattern TEXT =
      Pattern.compile("(\\d{1,15})(?: (\\d{1,15}))?(?: ([^\n]*)\n(.*))?", Pattern.DOTALL);

  /** What is paused. */
  public enum Scope {
    /** The queue alone. */
    QUEUE,
    /** All queues of its application, also those that begin later. */
    APPLICATION
  }

  /**
   * What a pause is asked for with.
   *
   * @param by who pauses, at most {@value Pause#MAX_NAME} printable characters
   * @param reason at most {@value Pause#MAX_REASON} printable characters; empty for none
   * @param length after which it ends by itself, from 1 ms to 366 days; null for when it is resumed
   */
  public record Terms(String by, String reason, @Nullable Duration length) {

    /** Without an owner, a reason and an end. */
    public static final Terms NONE = new Terms("", "", null);

    /** Checks the ranges. */
    public Terms {
      if (!isText(by, MAX_NAME)) {
        throw new IllegalArgumentException(
            "by must be at most " + MAX_NAME + " printable characters");
      }
      if (!isText(reason, MAX_REASON)) {
        throw new IllegalArgumentException(
            "reason must be at most " + MAX_REASON + " printable characters");
      }
      if (length != null && (length.toMillis() < 1 || length.compareTo(LONGEST) > 0)) {
        throw new IllegalArgumentException("a pause must be 1 ms to 366 days long, not " + length);
      }
    }

    /** As scripts get and keep who and why. */
    public String words() {
      return by + "\n" + reason;
    }

    /** As scripts get it: ms, 0 for no end. */
    public long millis() {
      return length == null ? 0 : length.toMillis();
    }
  }

  /** Returns whether a text has at most so many characters, all of them printable. */
  public static boolean isText(String text, int max) {
    return text.codePointCount(0, text.length()) <= max && !UNPRINTABLE.matcher(text).find();
  }

  /** Reads what the store keeps. A part that is not of its form counts as not given. */
  public static Pause parse(Scope scope, String text) {
    Matcher parts = TEXT.matcher(text);
    if (!parts.lookingAt()) {
      return new Pause(scope, 0, null, "", "");
    }
    long until = parts.group(2) == null ? 0 : Long.parseLong(parts.group(2));
    return new Pause(
        scope,
        Long.parseLong(parts.group(1)),
        until == 0 ? null : Long.valueOf(until),
        parts.group(3) == null ? "" : parts.group(3),
        parts.group(4) == null ? "" : parts.group(4));
  }

  /** As the store keeps it. */
  public String text() {
    return since + " " + (until == null ? 0 : until) + " " + by + "\n" + reason;
  }

  /** Returns whether it is not over. */
  public boolean goesOn(long now) {
    return until == null || now < until;
  }

  /** Returns what pauses another bucket until the same time, for the same reason. */
  public Terms rest(long now) {
    return new Terms(
        by, reason, until == null ? null : Duration.ofMillis(Math.max(1, until - now)));
  }

  /** Returns since when the first of some goes on; null for none. */
  public static @Nullable Long since(List<Pause> some) {
    return some.stream().map(Pause::since).min(Comparator.naturalOrder()).orElse(null);
  }

  /** Returns when the last of some ends; null if one has no end, and for none. */
  public static @Nullable Long end(List<Pause> some) {
    long last = 0;
    for (Pause pause : some) {
      if (pause.until() == null) {
        return null;
      }
      last = Math.max(last, pause.until());
    }
    return last == 0 ? null : Long.valueOf(last);
  }
}
