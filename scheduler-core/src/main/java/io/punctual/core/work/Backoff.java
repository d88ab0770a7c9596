package io.punctual.core.work;

import java.time.Duration;
import java.util.random.RandomGenerator;

/** Doubling waits up to a cap; half of each is random, so that many do not come back together. */
public final class Backoff {

  private final long first;
  private final long cap;
  private long next;

  public Backoff(Duration first, Duration cap) {
    this.first = first.toNanos();
    this.cap = cap.toNanos();
    this.next = this.first;
  }

  /** For calls to the store: 50 ms up to 5 s. */
  public static Backoff ofStore() {
    return new Backoff(Duration.ofMillis(50), Duration.ofSeconds(5));
  }

  /** The next wait in nanoseconds. */
  public synchronized long next(RandomGenerator random) {
    long full = next;
    next = Math.min(cap, next * 2);
    return full / 2 + random.nextLong(full / 2 + 1);
  }

  /** It worked again. */
  public synchronized void reset() {
    next = first;
  }
}
