package io.punctual.core.work;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the engine's threads come from: virtual ones from Java 24 on, daemon platform threads
 * before.
 *
 * <p>Java 21 to 23 have virtual threads too, but there a thread that waits for a socket inside
 * {@code synchronized} (as connection pools and drivers do) keeps its carrier (JEP 491): on a small
 * machine a few slow answers would stop all scanners at once.
 */
public final class Threads implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Threads.class);
  private static final int FIRST_WITHOUT_PINNING = 24;

  /** How long a task waits if no thread could be started for it. */
  static final long AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final String DUTY = "A task in the background";

  private final ThreadFactory factory;
  private final Executor tasks;
  private final ScheduledThreadPoolExecutor timer;
  private volatile Defects defects = new Defects();

  private Threads(ThreadFactory factory, Executor tasks, ScheduledThreadPoolExecutor timer) {
    this.factory = factory;
    this.tasks = tasks;
    this.timer = timer;
    this.timer.setRemoveOnCancelPolicy(true);
  }

  private static ScheduledThreadPoolExecutor timer() {
    ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, daemons());
    // Started now: when memory is short, the thread that retries could not be started.
    timer.prestartCoreThread();
    return timer;
  }

  /** Threads in the background. */
  public static Threads inBackground() {
    return inBackground(timer());
  }

  /**
   * Threads in the background.
   *
   * @param timer starts the tasks that run later; closed with the threads
   */
  public static Threads inBackground(ScheduledThreadPoolExecutor timer) {
    if (Runtime.version().feature() >= FIRST_WITHOUT_PINNING) {
      ThreadFactory factory = virtualThreads();
      return new Threads(factory, task -> factory.newThread(task).start(), timer);
    }
    ThreadFactory factory = daemons();
    // A task is one short call to the store; idle threads go after ten seconds.
    return new Threads(
        factory,
        new ThreadPoolExecutor(
            0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), factory),
        timer);
  }

  /** No threads: a task runs where it is handed in, and nothing runs later. */
  public static Threads ofCaller() {
    Threads threads =
        new Threads(
            duty -> {
              throw new IllegalStateException("an engine that is stepped is not started");
            },
            Runnable::run,
            timer());
    threads.timer.shutdown();
    return threads;
  }

  /** Starts a thread that lives as long as its duty. */
  public Thread start(String name, Runnable duty) {
    Thread thread = factory.newThread(duty);
    thread.setName(name);
    thread.start();
    return thread;
  }

  /** Runs a task that may block; later if there is no thread for it now. */
  public void run(Runnable task) {
    try {
      tasks.execute(() -> guarded(task));
    } catch (RuntimeException | Error e) {
      // No memory for a thread, for instance. Whoever waits for the task must not wait for ever.
      defects.met(DUTY, e);
      runAfter(AGAIN_NANOS, task);
    }
  }

  private void guarded(Runnable task) {
    try {
      task.run();
      defects.worked(DUTY);
    } catch (RuntimeException | Error e) {
      defects.met(DUTY, e);
    }
  }

  /** Has the defects of tasks shown. */
  public Threads reportingTo(Defects shown) {
    defects = shown;
    return this;
  }

  /** Runs a task that may block, later; not at all once closed. */
  public void runAfter(long nanos, Runnable task) {
    try {
      var unused = timer.schedule(() -> run(task), nanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      log.trace("closed: a task is not run any more", e);
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }

  private static ThreadFactory daemons() {
    AtomicLong count = new AtomicLong();
    return task -> {
      Thread thread = new Thread(task, "punctual-" + count.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }

  // By reflection, since this module is compiled for Java 17.
  private static ThreadFactory virtualThreads() {
    try {
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      Class<?> type = Class.forName("java.lang.Thread$Builder");
      type.getMethod("name", String.class, long.class).invoke(builder, "punctual-", 1L);
      return (ThreadFactory) type.getMethod("factory").invoke(builder);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this Java has no virtual threads: " + Runtime.version(), e);
    }
  }
}
