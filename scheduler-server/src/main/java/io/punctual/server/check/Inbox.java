package io.punctual.server.check;

import io.punctual.core.Delivery;
import io.punctual.core.Dispatcher;
import io.punctual.core.job.QueueName;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Keeps what the engine delivers until a move takes it. */
final class Inbox implements Dispatcher {

  private static final int CAPACITY = 10;
  private static final long PATIENCE_MS = 10_000;

  private final Map<QueueName, BlockingQueue<Delivery>> arrived = new ConcurrentHashMap<>();
  private final Queue<Delivery> all = new ConcurrentLinkedQueue<>();
  private final QueueName left;
  private volatile boolean closed;

  /**
   * @param left a queue whose jobs only pull requests get
   */
  Inbox(QueueName left) {
    this.left = left;
  }

  @Override
  public int capacity(QueueName queue) {
    return closed || queue.equals(left) ? 0 : CAPACITY;
  }

  @Override
  public void dispatch(QueueName queue, List<Delivery> deliveries) {
    all.addAll(deliveries);
    of(queue).addAll(deliveries);
  }

  private BlockingQueue<Delivery> of(QueueName queue) {
    return arrived.computeIfAbsent(queue, unused -> new LinkedBlockingQueue<>());
  }

  /**
   * Returns the next delivery.
   *
   * @throws MoveFailedException if none comes in time
   */
  Delivery next(QueueName queue) throws InterruptedException {
    Delivery next = within(queue, PATIENCE_MS);
    if (next == null) {
      throw new MoveFailedException("no job was delivered within " + PATIENCE_MS / 1_000 + " s");
    }
    return next;
  }

  /** Returns the next delivery that comes within that time; null if none does. */
  @Nullable Delivery within(QueueName queue, long millis) throws InterruptedException {
    return of(queue).poll(millis, TimeUnit.MILLISECONDS);
  }

  /** Takes no more, and gives back what has not ended. */
  void close() {
    closed = true;
    for (Delivery delivery : all) {
      var unused = delivery.release();
    }
  }
}
