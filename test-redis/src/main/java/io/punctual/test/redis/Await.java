package io.punctual.test.redis;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Waits until a set-up is ready. */
final class Await {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private Await() {}

  interface Condition {
    boolean holds() throws IOException;
  }

  static void until(String what, Condition condition) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      try {
        if (condition.holds()) {
          return;
        }
      } catch (IOException e) {
        if (System.nanoTime() - deadline > 0) {
          throw new IllegalStateException("not in time: " + what, e);
        }
      }
      if (System.nanoTime() - deadline > 0) {
        throw new IllegalStateException("not in time: " + what);
      }
      LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
    }
  }
}
