package io.punctual.spring.plugin;

import io.punctual.RetryPolicy;
import io.punctual.TaskWorker;
import io.punctual.internal.TaskWorkers;
import io.punctual.spring.AnnotatedWorkers;
import io.punctual.spring.WorkerSettings;
import io.punctual.spring.autoconfigure.PunctualProperties;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The task types that this application runs, with their scan intervals and numbers of threads: a
 * bean to inject where these change while the application runs. Changes take effect at once, in
 * this instance only. Together, jobs of all types stay within {@code punctual.concurrency}.
 *
 * <p>Jobs do not wait for the scan interval: they wake their scanner when they are due. It is how
 * often a scanner looks in any case, should a wake-up have been lost.
 */
public final class PluginTasks {

  /** Bounds of a scan interval. */
  private static final Duration MIN_INTERVAL = Duration.ofMillis(10);

  private static final Duration MAX_INTERVAL = Duration.ofMinutes(1);
  private static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(1);

  private final Supplier<TaskWorkers> workers;
  private final AnnotatedWorkers annotated;
  private final PunctualProperties properties;
  private final Map<String, Duration> intervals = new ConcurrentHashMap<>();
  private final Map<String, Integer> threads = new ConcurrentHashMap<>();
  // As properties and annotations have them, which do not change.
  private final Map<String, WorkerSettings> settings = new ConcurrentHashMap<>();
  private volatile int defaultThreads;
  private volatile Consumer<String> changed = type -> {};

  PluginTasks(
      Supplier<TaskWorkers> workers, AnnotatedWorkers annotated, PunctualProperties properties) {
    this.workers = workers;
    this.annotated = annotated;
    this.properties = properties;
    this.defaultThreads = properties.concurrency();
  }

  /** To be told which task type may run more jobs now. */
  void onChange(Consumer<String> listener) {
    changed = listener;
  }

  /**
   * Adds a worker while the application runs. Its jobs begin to run within two seconds.
   *
   * @throws io.punctual.internal.WorkerSetupException if its type is taken or is no valid name
   */
  public void register(TaskWorker worker) {
    workers.get().add("a worker that was registered later", worker);
    changed.accept(worker.type());
  }

  /**
   * Sets how often the scanner of a task type looks even if nothing wakes it.
   *
   * @param seconds 1 to 60
   * @throws IllegalArgumentException if it is out of range, or no worker has this type
   */
  public void register(String taskType, int seconds) {
    register(taskType, Duration.ofSeconds(seconds));
  }

  /**
   * As {@link #register(String, int)}.
   *
   * @param interval 10 ms to 1 min
   */
  public void register(String taskType, Duration interval) {
    requireWorker(taskType);
    requireInterval("the scan interval of " + taskType, interval);
    intervals.put(taskType, interval);
    changed.accept(taskType);
  }

  /**
   * Sets how many jobs of each task type that has no number of its own run here at once.
   *
   * @param threads 1 to 10,000
   * @throws IllegalArgumentException if it is out of range
   */
  public void setThreads(int threads) {
    requireThreads("threads", threads);
    defaultThreads = threads;
    workers.get().types().forEach(changed);
  }

  /**
   * Sets how many jobs of a task type run here at once.
   *
   * @param threads 1 to 10,000
   * @throws IllegalArgumentException if it is out of range, or no worker has this type
   */
  public void setThreads(String taskType, int threads) {
    requireWorker(taskType);
    requireThreads("the threads of " + taskType, threads);
    this.threads.put(taskType, threads);
    changed.accept(taskType);
  }

  /** How many jobs of a task type run here at once. */
  public int threads(String taskType) {
    Integer own = threads.get(taskType);
    if (own == null) {
      own = settings(taskType).concurrency();
    }
    return own == null ? defaultThreads : own;
  }

  /** How often the scanner of a task type looks even if nothing wakes it. */
  public Duration scanInterval(String taskType) {
    return intervals.getOrDefault(taskType, DEFAULT_INTERVAL);
  }

  RetryPolicy retry(String taskType) {
    RetryPolicy own = settings(taskType).retry();
    return own == null ? RetryPolicy.DEFAULT : own;
  }

  WorkerSettings settings(String taskType) {
    WorkerSettings known = settings.get(taskType);
    if (known == null) {
      known = properties.settings(taskType, annotated);
      settings.put(taskType, known);
    }
    return known;
  }

  TaskWorkers workers() {
    return workers.get();
  }

  Set<String> types() {
    return workers.get().types();
  }

  @Nullable TaskWorker worker(String taskType) {
    return workers.get().find(taskType);
  }

  private void requireWorker(String taskType) {
    Limits.requireName("taskType", taskType);
    if (worker(taskType) == null) {
      throw new IllegalArgumentException(
          "no worker of this application has the task type "
              + taskType
              + ", there are "
              + workers.get().types()
              + "; register the worker first");
    }
  }

  private static void requireInterval(String what, Duration interval) {
    if (interval.compareTo(MIN_INTERVAL) < 0 || interval.compareTo(MAX_INTERVAL) > 0) {
      throw new IllegalArgumentException(
          what + " must be between " + MIN_INTERVAL + " and " + MAX_INTERVAL + ", not " + interval);
    }
  }

  private static void requireThreads(String what, int threads) {
    if (threads < 1 || threads > PunctualProperties.MAX_CONCURRENCY) {
      throw new IllegalArgumentException(
          what
              + " must be between 1 and "
              + PunctualProperties.MAX_CONCURRENCY
              + ", not "
              + threads);
    }
  }
}
