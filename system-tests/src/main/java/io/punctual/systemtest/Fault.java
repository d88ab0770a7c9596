package io.punctual.systemtest;

import java.time.Duration;

/**
 * Something that a test broke. It explains that a job ran once more if the run before was under way
 * then: it had begun, and its end had not certainly been written down in Redis.
 *
 * @param what for people
 * @param from when it broke, epoch microseconds
 * @param until when it worked again, epoch microseconds
 */
public record Fault(String what, long from, long until) {

  // A request that was written just before the fault begins a little later; an answer that was
  // given just before it may not have reached Redis.
  private static final long SLACK = Duration.ofSeconds(1).toNanos() / 1000;

  /** Breaks something, or breaks and mends it; the fault lasts as long as the action. */
  public static Fault of(String what, Runnable action) {
    long from = EpochMicros.now();
    action.run();
    return new Fault(what, from, EpochMicros.now());
  }

  boolean explainsRepeatOf(Execution before) {
    Long end = before.end();
    return before.begin() <= until + SLACK && (end == null || end >= from - SLACK);
  }
}
