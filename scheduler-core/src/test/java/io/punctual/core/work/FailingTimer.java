package io.punctual.core.work;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A timer that has no memory for its first task. */
public final class FailingTimer extends ScheduledThreadPoolExecutor {

  private final AtomicInteger asked = new AtomicInteger();

  public FailingTimer() {
    super(1);
  }

  /** How many tasks it was handed. */
  public int asked() {
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
