package io.punctual.amqp;

import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.util.ConcurrentLruCache;

/**
 * Counts attempts in a row whose exchange or queue did not exist, by incarnation of the job. Each
 * instance counts its own attempts, since it does not know how those of the others ended. The count
 * goes on if the job is requeued.
 */
final class AttemptsWithoutPlace {

  private static final int MOST = 10;

  /** If more messages have no place at once, the retry policy ends them. */
  private static final int MESSAGES = 100_000;

  private final ConcurrentLruCache<String, AtomicInteger> counts =
      new ConcurrentLruCache<>(MESSAGES, incarnation -> new AtomicInteger());

  /** Counts one more; returns whether it is the tenth, and then forgets all of them. */
  boolean isLast(String incarnation) {
    boolean last = counts.get(incarnation).incrementAndGet() >= MOST;
    if (last) {
      forget(incarnation);
    }
    return last;
  }

  /**
   * Begins the count again, as after an attempt that failed for another reason: after a restart of
   * RabbitMQ, consumers may declare their queues after the first message is due.
   */
  void forget(String incarnation) {
    counts.remove(incarnation);
  }
}
