package io.punctual.server.history;

import io.punctual.server.metrics.QueueSample;
import io.punctual.server.metrics.QueueStatistics;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What all queues did between two looks at them.
 *
 * @param at Redis's time of the second look, epoch ms
 * @param ms how long before it the first look was, at least 1
 * @param submitted jobs that were stored meanwhile
 * @param done jobs that were done meanwhile
 * @param failed attempts that failed or ended without an answer meanwhile
 * @param died jobs that became dead letters meanwhile
 * @param notDue waiting jobs that are due later, at the second look
 * @param ready waiting jobs that are due, at the second look
 * @param reserved jobs in flight, at the second look
 * @param p50 how late half of the jobs of the last minute began at most, in ms, at the scheduler
 *     where that was longest; null where no job began
 * @param p99 the same of 99 of 100 jobs
 */
record Point(
    long at,
    long ms,
    long submitted,
    long done,
    long failed,
    long died,
    long notDue,
    long ready,
    long reserved,
    @Nullable Long p50,
    @Nullable Long p99) {

  private static final int FIELDS = 11;
  private static final Pattern NUMBER = Pattern.compile("\\d{1,15}");
  private static final long MOST_MS = 86_400_000;

  /**
   * Compares two looks. A queue that is new, or that one of them could not read, adds nothing to
   * what was done: what it did before is not known.
   */
  static Point between(
      QueueStatistics.Snapshot before,
      QueueStatistics.Snapshot now,
      @Nullable Long p50,
      @Nullable Long p99) {
    long[] grown = new long[4];
    for (QueueSample queue : now.all()) {
      QueueSample then = before.queues().get(queue.queue());
      if (then != null && !then.damaged() && !queue.damaged()) {
        grown[0] += grown(then, queue, "submitted");
        grown[1] += grown(then, queue, "done");
        grown[2] += grown(then, queue, "failed", "rejected", "unknown", "expired");
        grown[3] += grown(then, queue, "dead");
      }
    }
    return new Point(
        now.now(),
        now.now() - before.now(),
        grown[0],
        grown[1],
        grown[2],
        grown[3],
        now.sum(queue -> queue.stats().delayed() - queue.stats().ready()),
        now.sum(queue -> queue.stats().ready()),
        now.sum(queue -> queue.stats().reserved()),
        p50,
        p99);
  }

  // Where Redis was emptied, or is an older one, the counters have shrunk.
  private static long grown(QueueSample then, QueueSample now, String... counters) {
    long sum = 0;
    for (String counter : counters) {
      sum += Math.max(0, now.count(counter) - then.count(counter));
    }
    return sum;
  }

  /** Redis's time of the first look, epoch ms. */
  long begin() {
    return at - ms;
  }

  /** As it is stored: the numbers in their order, a hyphen for null. */
  String text() {
    return Stream.of(at, ms, submitted, done, failed, died, notDue, ready, reserved, p50, p99)
        .map(number -> number == null ? "-" : Long.toString(number))
        .collect(Collectors.joining(" "));
  }

  /** Reads what is stored, also by a later version that adds numbers; null if it is no point. */
  static @Nullable Point parse(String text) {
    String[] parts = text.split(" ", -1);
    if (parts.length < FIELDS) {
      return null;
    }
    long[] numbers = new long[FIELDS];
    for (int i = 0; i < FIELDS; i++) {
      boolean none = i >= FIELDS - 2 && parts[i].equals("-");
      if (!none && !NUMBER.matcher(parts[i]).matches()) {
        return null;
      }
      numbers[i] = none ? -1 : Long.parseLong(parts[i]);
    }
    if (numbers[1] < 1 || numbers[1] > MOST_MS || numbers[0] < numbers[1]) {
      return null;
    }
    return new Point(
        numbers[0],
        numbers[1],
        numbers[2],
        numbers[3],
        numbers[4],
        numbers[5],
        numbers[6],
        numbers[7],
        numbers[8],
        numbers[9] < 0 ? null : Long.valueOf(numbers[9]),
        numbers[10] < 0 ? null : Long.valueOf(numbers[10]));
  }
}
