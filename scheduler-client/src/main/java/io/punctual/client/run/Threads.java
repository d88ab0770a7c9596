package io.punctual.client.run;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Threads for jobs: virtual where they do not pin their carriers, else a pool. */
final class Threads {

  // Before 24, a virtual thread that blocks inside synchronized keeps its carrier (JEP 491).
  private static final int FIRST_WITHOUT_PINNING = 24;

  private Threads() {}

  static ExecutorService forJobs(int concurrency) {
    if (Runtime.version().feature() >= FIRST_WITHOUT_PINNING) {
      return virtual();
    }
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            concurrency,
            concurrency,
            30,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            named("punctual-job-"));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /**
   * For writing results: behind the jobs that are about to run where threads cost nothing; else on
   * the thread that has the result, since the pool may be full of jobs that take long.
   */
  static Executor forResults(ExecutorService jobs) {
    return jobs instanceof ThreadPoolExecutor ? Runnable::run : jobs;
  }

  /**
   * For what follows the end of a future: never behind jobs that wait for the place which that
   * future takes.
   */
  static ExecutorService forEnds(ExecutorService jobs) {
    return jobs instanceof ThreadPoolExecutor
        ? new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            10,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            named("punctual-end-"))
        : jobs;
  }

  private static ThreadFactory named(String prefix) {
    AtomicInteger number = new AtomicInteger();
    return task -> {
      Thread thread = new Thread(task, prefix + number.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }

  // By reflection, since this module is compiled for Java 17.
  private static ExecutorService virtual() {
    try {
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      Class<?> type = Class.forName("java.lang.Thread$Builder");
      type.getMethod("name", String.class, long.class).invoke(builder, "punctual-job-", 1L);
      ThreadFactory factory = (ThreadFactory) type.getMethod("factory").invoke(builder);
      return (ExecutorService)
          Executors.class
              .getMethod("newThreadPerTaskExecutor", ThreadFactory.class)
              .invoke(null, factory);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this Java has no virtual threads: " + Runtime.version(), e);
    }
  }
}
