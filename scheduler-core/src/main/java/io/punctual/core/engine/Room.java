package io.punctual.core.engine;

import io.punctual.core.queue.QueueName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many jobs of one queue may be claimed now. What one bucket's scanner is about to claim is not
 * offered to the scanner of another bucket.
 */
final class Room {

  private static final Logger log = LoggerFactory.getLogger(Room.class);

  private final QueueName queue;
  private final Dispatcher dispatcher;
  private int taken;
  private boolean broken;

  Room(QueueName queue, Dispatcher dispatcher) {
    this.queue = queue;
    this.dispatcher = dispatcher;
  }

  /** Takes room for up to {@code max} jobs; give it back with {@link #give}. */
  synchronized int take(int max) {
    int free = Math.min(max, capacity() - taken);
    if (free <= 0) {
      return 0;
    }
    taken += free;
    return free;
  }

  /** The jobs are with the dispatcher, or there were none. */
  synchronized void give(int count) {
    taken -= count;
  }

  private int capacity() {
    try {
      int capacity = dispatcher.capacity(queue);
      broken = false;
      return capacity;
    } catch (RuntimeException e) {
      if (!broken) {
        log.error("The dispatcher could not say how many jobs of {} it takes; they wait", queue, e);
      }
      broken = true;
      return 0;
    }
  }
}
