package io.punctual.benchmark.contest;

import io.punctual.systemtest.EpochMicros;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** Notes every run of the jobs of one round. */
final class Recorder {

  /** Bytes of each payload. */
  static final int PAYLOAD = 100;

  private static final AtomicInteger ROUNDS = new AtomicInteger();
  private static volatile Recorder current = new Recorder(0);
  private static final AtomicInteger STRAYS = new AtomicInteger();

  private final int round = ROUNDS.incrementAndGet();
  private final AtomicIntegerArray runs;
  // Microseconds; of the first run.
  private final AtomicLongArray lateness;
  private final AtomicInteger distinct = new AtomicInteger();
  private final AtomicLong last = new AtomicLong();

  private Recorder(int jobs) {
    this.runs = new AtomicIntegerArray(jobs);
    this.lateness = new AtomicLongArray(jobs);
  }

  /** Begins a round: from now on only its jobs are expected. */
  static Recorder begin(int jobs) {
    Recorder recorder = new Recorder(jobs);
    current = recorder;
    return recorder;
  }

  /** Runs of jobs of earlier rounds. */
  static int strays() {
    return STRAYS.get();
  }

  /** What the contender's worker calls. */
  static void handle(String payload) {
    long now = EpochMicros.now();
    String[] words = payload.split(" ", 4);
    Recorder recorder = current;
    if (payload.length() != PAYLOAD || Integer.parseInt(words[0]) != recorder.round) {
      STRAYS.incrementAndGet();
      return;
    }
    int index = Integer.parseInt(words[1]);
    if (recorder.runs.getAndIncrement(index) == 0) {
      recorder.lateness.set(index, now - Long.parseLong(words[2]) * 1000);
      recorder.last.accumulateAndGet(now, Math::max);
      recorder.distinct.incrementAndGet();
    }
  }

  Contender.Job job(int index, long due) {
    StringBuilder payload = new StringBuilder(PAYLOAD);
    payload.append(round).append(' ').append(index).append(' ').append(due).append(' ');
    while (payload.length() < PAYLOAD) {
      payload.append('x');
    }
    return new Contender.Job(round + "-" + index, payload.toString(), due);
  }

  boolean complete() {
    return distinct.get() == runs.length();
  }

  int missing() {
    return runs.length() - distinct.get();
  }

  int twice() {
    int twice = 0;
    for (int i = 0; i < runs.length(); i++) {
      twice += runs.get(i) > 1 ? 1 : 0;
    }
    return twice;
  }

  int early() {
    int early = 0;
    for (int i = 0; i < runs.length(); i++) {
      early += runs.get(i) > 0 && lateness.get(i) < 0 ? 1 : 0;
    }
    return early;
  }

  /** Epoch microseconds of the last first run. */
  long lastRun() {
    return last.get();
  }

  /** Microseconds, of those that ran, in no order. */
  long[] lateness() {
    long[] values = new long[distinct.get()];
    int count = 0;
    for (int i = 0; i < runs.length() && count < values.length; i++) {
      if (runs.get(i) > 0) {
        values[count++] = lateness.get(i);
      }
    }
    return values;
  }
}
