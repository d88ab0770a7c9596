package io.punctual.core.engine;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A timer that has no memory for its first task. */
final class FailingTimer extends ScheduledThreadPoolExecutor {

  private final AtomicInteger asked = new AtomicInteger();

  FailingTimer() {
    super(1);
  }

  /** How many tasks it was handed. */
  int asked() {
    return asked.get();
  }

  @Override
  public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
    if (asked.getAndIncrement() == 0) {
      throw new OutOfMemoryError("of the test");
    }
    return super.schedule(task, delay, unit);
  }
}
