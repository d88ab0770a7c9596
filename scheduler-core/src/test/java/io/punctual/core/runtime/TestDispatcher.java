package io.punctual.core.runtime;

import io.punctual.core.Delivery;
import io.punctual.core.Dispatcher;
import io.punctual.core.job.QueueName;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Takes what it is given: hands it to the test, or to a worker that the test brings. */
final class TestDispatcher implements Dispatcher {

  final AtomicInteger capacity = new AtomicInteger(200);
  final Queue<String> seen = new ConcurrentLinkedQueue<>();
  // The threads that asked how much they may claim.
  final Set<Thread> claiming = ConcurrentHashMap.newKeySet();
  private final Queue<Delivery> given = new ConcurrentLinkedQueue<>();
  private final LinkedBlockingQueue<Delivery> open = new LinkedBlockingQueue<>();
  private final @Nullable Consumer<Delivery> worker;
  private volatile boolean released;

  /** The test ends the deliveries. */
  TestDispatcher() {
    this(null);
  }

  TestDispatcher(@Nullable Consumer<Delivery> worker) {
    this.worker = worker;
  }

  /** Every delivery is done at once. */
  static TestDispatcher done() {
    return new TestDispatcher(
        delivery -> {
          var unused = delivery.done();
        });
  }

  @Override
  public int capacity(QueueName queue) {
    claiming.add(Thread.currentThread());
    return capacity.get();
  }

  @Override
  public boolean hasCapacity(QueueName queue) {
    return capacity.get() > 0;
  }

  @Override
  public void dispatch(QueueName queue, List<Delivery> deliveries) {
    for (Delivery delivery : deliveries) {
      seen.add(delivery.taskId());
      given.add(delivery);
      if (released) {
        // Claimed while it was asked for the last time.
        var unused = delivery.release();
      } else if (worker != null) {
        worker.accept(delivery);
      } else {
        open.add(delivery);
      }
    }
  }

  /** The next delivery; fails the test when none comes. */
  Delivery next() {
    Delivery next = poll(Duration.ofSeconds(20));
    if (next == null) {
      throw new AssertionError("no delivery came within 20 s");
    }
    return next;
  }

  /** Gives back what the test has not ended; takes no more. */
  void releaseAll() {
    capacity.set(0);
    released = true;
    for (Delivery delivery : given) {
      var unused = delivery.release();
    }
  }

  @Nullable Delivery poll(Duration patience) {
    try {
      return open.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
