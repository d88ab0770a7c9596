package io.punctual.core.work;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
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
 * Creates the engine's threads: virtual ones from Java 24 on, daemon platform threads before.
 * Platform threads are few: tasks that wait for their time share them.
 *
 * <p>Java 21 to 23 have virtual threads too, but there a thread that waits for a socket inside
 * {@code synchronized} (as connection pools and drivers do) keeps its carrier (JEP 491): on a small
 * machine a few slow answers would stop all scanners at once.
 */
public final class Threads implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Threads.class);
  private static final int FIRST_WITHOUT_PINNING = 24;

  /** How long a task waits if no thread could be started for it. */
  public static final long AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final String DUTY = "A task in the background";

  /** How long a thread without a task stays. */
  private static final int IDLE_SECONDS = 10;

  private final ThreadFactory factory;
  private final Executor tasks;
  private final boolean cheap;
  private final ScheduledThreadPoolExecutor timer;
  private final Map<String, Executor> shared = new ConcurrentHashMap<>();
  private volatile Defects defects = new Defects();

  private Threads(
      ThreadFactory factory, Executor tasks, boolean cheap, ScheduledThreadPoolExecutor timer) {
    this.factory = factory;
    this.tasks = tasks;
    this.cheap = cheap;
    this.timer = timer;
    this.timer.setRemoveOnCancelPolicy(true);
  }

  private static ScheduledThreadPoolExecutor timer() {
    ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, daemons("punctual-"));
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
      return new Threads(factory, task -> factory.newThread(task).start(), true, timer);
    }
    return onPlatform(timer);
  }

  /** Platform threads in the background, whatever the version of Java. */
  public static Threads onPlatform() {
    return onPlatform(timer());
  }

  private static Threads onPlatform(ScheduledThreadPoolExecutor timer) {
    ThreadFactory factory = daemons("punctual-");
    // A task is one short call to the store.
    Executor tasks =
        new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            factory);
    return new Threads(factory, tasks, false, timer);
  }

  /** No threads: a task runs where it is handed in, and nothing runs later. */
  public static Threads ofCaller() {
    Threads threads =
        new Threads(
            duty -> {
              throw new IllegalStateException("an engine that is stepped is not started");
            },
            Runnable::run,
            true,
            timer());
    threads.timer.shutdown();
    return threads;
  }

  /** Whether there may be one for each bucket, which mostly sleeps. */
  public boolean areCheap() {
    return cheap;
  }

  /** Whether tasks may run later, and not only where they are handed in. */
  public boolean runLater() {
    return !timer.isShutdown();
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

  /**
   * Runs a task that may block on one of a few threads, which tasks with that name share; when its
   * turn comes.
   *
   * @param most how many threads at most; the same for each task of that name
   */
  public void share(String name, int most, Runnable task) {
    try {
      shared.computeIfAbsent(name, any -> pool(most)).execute(() -> guarded(task));
    } catch (RuntimeException | Error e) {
      defects.met(DUTY, e);
      runAfter(AGAIN_NANOS, () -> share(name, most, task));
    }
  }

  private Executor pool(int most) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            most,
            most,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            daemons("punctual-shared-"));
    pool.allowCoreThreadTimeOut(true);
    return pool;
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

  /**
   * Has a task run later that does not block.
   *
   * @return with which it can be cancelled
   * @throws RejectedExecutionException if closed
   */
  public Future<?> alarm(long nanos, Runnable task) {
    return timer.schedule(task, nanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }

  private static ThreadFactory daemons(String prefix) {
    AtomicLong count = new AtomicLong();
    return task -> {
      Thread thread = new Thread(task, prefix + count.incrementAndGet());
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
