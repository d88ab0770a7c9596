package io.punctual.test;

import java.time.Duration;
import java.util.List;

/** What a message says of what was there. */
final class Shown {

  private static final int MOST = 20;

  private Shown() {}

  static String of(TestScheduler scheduler, List<StoredJob> jobs, List<Attempt> attempts) {
    StringBuilder text = new StringBuilder(200).append("\nIt is ").append(scheduler.now());
    if (scheduler.faults().isAway()) {
      text.append(", and the scheduler is away");
    }
    text.append(".\n");
    append(text, "Jobs there", jobs);
    append(text, "Attempts so far", attempts);
    return text.toString();
  }

  private static void append(StringBuilder text, String title, List<?> lines) {
    text.append(title);
    if (lines.isEmpty()) {
      text.append(": none\n");
      return;
    }
    text.append(" (").append(lines.size()).append("):\n");
    lines.stream().limit(MOST).forEach(line -> text.append("  ").append(line).append('\n'));
    if (lines.size() > MOST) {
      text.append("  and ").append(lines.size() - MOST).append(" more\n");
    }
  }

  static String attempts(int count) {
    return count == 0 ? "no attempt" : count == 1 ? "1 attempt" : count + " attempts";
  }

  /** As people write it: 1d 2h 3m 4.5s. */
  static String text(Duration duration) {
    if (duration.toMillis() == 0) {
      return duration.isZero() ? "0s" : duration.toString();
    }
    if (duration.isNegative()) {
      return "-" + text(duration.negated());
    }
    StringBuilder text = new StringBuilder();
    part(text, duration.toDays(), "d");
    part(text, duration.toHoursPart(), "h");
    part(text, duration.toMinutesPart(), "m");
    if (duration.toMillisPart() > 0) {
      part(text, duration.toMillis() % 60_000, "ms");
    } else {
      part(text, duration.toSecondsPart(), "s");
    }
    return text.toString();
  }

  private static void part(StringBuilder text, long value, String unit) {
    if (value > 0) {
      text.append(text.isEmpty() ? "" : " ").append(value).append(unit);
    }
  }
}
