package io.punctual.benchmark.contest;

import io.punctual.systemtest.EpochMicros;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/** Notes every run of the jobs of one round. */
public final class Recorder {

  /** Bytes of each payload, unless a round has others. */
  public static final int PAYLOAD = 100;

  private static final AtomicInteger ROUNDS = new AtomicInteger();
  private static volatile Recorder current = new Recorder(0, PAYLOAD);
  private static final AtomicInteger STRAYS = new AtomicInteger();

  private final int payload;
  private final int round = ROUNDS.incrementAndGet();
  private final AtomicIntegerArray runs;
  // Microseconds; of the first run.
  private final AtomicLongArray lateness;
  private final AtomicInteger distinct = new AtomicInteger();

  private Recorder(int jobs, int payload) {
    this.payload = payload;
    this.runs = new AtomicIntegerArray(jobs);
    this.lateness = new AtomicLongArray(jobs);
  }

  /** Begins a round: from now on only its jobs are expected. */
  public static Recorder begin(int jobs) {
    return begin(jobs, PAYLOAD);
  }

  /**
   * Begins a round with payloads of another size.
   *
   * @param payload in bytes, at least {@value #PAYLOAD}
   */
  static Recorder begin(int jobs, int payload) {
    Recorder recorder = new Recorder(jobs, payload);
    current = recorder;
    return recorder;
  }

  /** Runs of jobs of earlier rounds. */
  public static int strays() {
    return STRAYS.get();
  }

  /** What the contender's worker calls. */
  public static void handle(String payload) {
    long now = EpochMicros.now();
    String[] words = payload.split(" ", 4);
    Recorder recorder = current;
    if (payload.length() != recorder.payload || Integer.parseInt(words[0]) != recorder.round) {
      STRAYS.incrementAndGet();
      return;
    }
    int index = Integer.parseInt(words[1]);
    if (recorder.runs.getAndIncrement(index) == 0) {
      recorder.lateness.set(index, now - Long.parseLong(words[2]) * 1000);
      recorder.distinct.incrementAndGet();
    }
  }

  Contender.Job job(int index, long due) {
    StringBuilder text = new StringBuilder(payload);
    text.append(round).append(' ').append(index).append(' ').append(due).append(' ');
    text.repeat('x', payload - text.length());
    return new Contender.Job(round + "-" + index, text.toString(), due);
  }

  int payload() {
    return payload;
  }

  /** How many jobs have run. */
  public int ran() {
    return distinct.get();
  }

  /** Waits until all jobs have run, or until that epoch ms. */
  public void awaitComplete(long until) {
    while (distinct.get() < runs.length() && System.currentTimeMillis() < until) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** Jobs that did not run. */
  public int missing() {
    return runs.length() - distinct.get();
  }

  /** Jobs that ran more than once. */
  public int twice() {
    return twice(0, runs.length());
  }

  /** Jobs that ran more than once, of those from an index up to another. */
  public int twice(int from, int to) {
    return count(from, to, i -> runs.get(i) > 1);
  }

  /** Jobs whose first run came before they were due. */
  public int early() {
    return count(0, runs.length(), i -> runs.get(i) > 0 && lateness.get(i) < 0);
  }

  private static int count(int from, int to, IntPredicate counts) {
    return (int) IntStream.range(from, to).filter(counts).count();
  }

  /** Microseconds, of those that ran. */
  public long[] lateness() {
    return lateness(0, runs.length());
  }

  /** Microseconds, of those from an index up to another that ran. */
  public long[] lateness(int from, int to) {
    return IntStream.range(from, to)
        .filter(i -> runs.get(i) > 0)
        .mapToLong(lateness::get)
        .toArray();
  }
}
