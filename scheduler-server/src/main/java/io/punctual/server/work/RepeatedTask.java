package io.punctual.server.work;

import io.punctual.server.text.PrintableException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/** A task that a thread of its own repeats while the scheduler runs. */
public abstract class RepeatedTask implements SmartLifecycle {

  private final Logger log = LoggerFactory.getLogger(getClass());
  private final String name;
  private final Duration first;
  private final Duration pause;
  private volatile @Nullable ScheduledExecutorService thread;
  private volatile boolean failing;

  /**
   * @param name of the thread
   * @param first how long after the start the first turn is
   * @param pause between two turns
   */
  protected RepeatedTask(String name, Duration first, Duration pause) {
    this.name = name;
    this.first = first;
    this.pause = pause;
  }

  /** Does the task once. */
  protected abstract void turn();

  /** Does the task once. The first of several failures in a row is logged; none is thrown. */
  protected final void tryTurn() {
    try {
      turn();
      failing = false;
    } catch (Throwable e) {
      // Also an Error: a turn that ends with one would be the last.
      if (!failing) {
        log.warn("The task {} failed; retrying every {}", name, pause, PrintableException.of(e));
      }
      failing = true;
    }
  }

  @Override
  public void start() {
    ScheduledExecutorService started =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name(name).factory());
    var unused =
        started.scheduleWithFixedDelay(
            this::tryTurn, first.toMillis(), pause.toMillis(), TimeUnit.MILLISECONDS);
    thread = started;
  }

  @Override
  public void stop() {
    ScheduledExecutorService started = thread;
    thread = null;
    if (started != null) {
      started.shutdownNow();
    }
  }

  @Override
  public boolean isRunning() {
    return thread != null;
  }
}
