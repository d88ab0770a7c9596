package io.punctual.spring.plugin;

import io.punctual.core.Engine;
import io.punctual.core.ScannerHealth;
import io.punctual.core.StoreHealth;
import io.punctual.core.store.durability.StoreNode;
import io.punctual.spi.JobScheduler;
import io.punctual.spring.Once;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * {@code /actuator/punctual} in plugin mode: what this instance runs and how, and what its jobs
 * stand on. Below it, {@code /actuator/punctual/{taskType}}: the dead letters of a task type, and a
 * write operation that requeues one. No secrets, and no params of any job.
 */
@Endpoint(id = "punctual")
public final class PunctualEndpoint {

  private final PluginIdentity identity;
  private final String keyPrefix;
  private final PluginTasks tasks;
  private final InProcessDispatcher dispatcher;
  private final Engine engine;
  private final JobScheduler jobs;

  /**
   * @param keyPrefix first part of every key in Redis
   */
  PunctualEndpoint(
      PluginIdentity identity,
      String keyPrefix,
      PluginTasks tasks,
      InProcessDispatcher dispatcher,
      Engine engine,
      JobScheduler jobs) {
    this.jobs = jobs;
    this.identity = identity;
    this.keyPrefix = keyPrefix;
    this.tasks = tasks;
    this.dispatcher = dispatcher;
    this.engine = engine;
  }

  /**
   * All of it.
   *
   * @param application whose jobs these are
   * @param instance who this is among its instances
   * @param delivery {@code in-process}, by which it is told from the other starter
   * @param keyPrefix first part of every key in Redis
   * @param running jobs that run now
   * @param taskTypes what it runs, by task type
   * @param scanners those that look for due jobs
   * @param store what the jobs stand on
   */
  public record Description(
      String application,
      String instance,
      String delivery,
      String keyPrefix,
      int running,
      Map<String, TaskType> taskTypes,
      ScannerHealth scanners,
      Store store) {}

  /**
   * A task type.
   *
   * @param concurrency jobs of it that this instance runs at once
   * @param running jobs of it that run now
   * @param scanInterval how often it is looked for jobs even if nothing wakes the scanner
   * @param timeToRun of jobs that this application sends without one; null for the default
   * @param retry of jobs that bring none
   * @param once {@code database} where a job takes effect once; null where it may run again
   */
  public record TaskType(
      int concurrency,
      int running,
      Duration scanInterval,
      @Nullable Duration timeToRun,
      String retry,
      @Nullable String once) {}

  /**
   * What the jobs stand on.
   *
   * @param error why it does not answer; null if it does
   * @param durability what changes must have reached before they are answered
   * @param findings what needs a fix
   * @param obstacles why the wanted durability cannot be kept
   */
  public record Store(
      @Nullable String error, String durability, List<String> findings, List<String> obstacles) {}

  /** Describes this instance. */
  @ReadOperation
  public Description describe() {
    Map<String, TaskType> types = new TreeMap<>();
    for (String type : tasks.types()) {
      types.put(type, taskType(type));
    }
    StoreHealth store = engine.storeHealth();
    return new Description(
        identity.application(),
        identity.instance(),
        "in-process",
        keyPrefix,
        types.values().stream().mapToInt(TaskType::running).sum(),
        types,
        engine.scanners(),
        new Store(
            store.error(),
            store.durability(),
            store.findings().stream().map(StoreNode.Finding::text).toList(),
            store.obstacles()));
  }

  /**
   * A dead letter.
   *
   * @param diedAt by Redis's clock
   * @param attempts those that counted
   * @param lastError why it died, in words; null where that is not known
   */
  public record DeadLetter(
      String taskId, Instant diedAt, @Nullable Integer attempts, @Nullable String lastError) {}

  /** The eldest dead letters of a task type, {@link Limits#MAX_DEAD_LETTERS} at most. */
  @ReadOperation
  public List<DeadLetter> deadLetters(@Selector String taskType) {
    return jobs.deadLetters(taskType, Limits.MAX_DEAD_LETTERS).stream()
        .map(job -> new DeadLetter(job.taskId(), job.at(), job.attempts(), job.lastError()))
        .toList();
  }

  /**
   * Lets a dead letter wait again, due now, with all its attempts.
   *
   * @return {@code requeued}, {@code not_dead} or {@code unknown}
   */
  @WriteOperation
  public Map<String, String> requeue(@Selector String taskType, String taskId) {
    return Map.of(
        "outcome", jobs.requeue(taskType, taskId).outcome().name().toLowerCase(Locale.ROOT));
  }

  private TaskType taskType(String type) {
    Once once = tasks.settings(type).once();
    return new TaskType(
        tasks.threads(type),
        dispatcher.running(type),
        tasks.scanInterval(type),
        tasks.settings(type).timeToRun(),
        tasks.retry(type).text(),
        once == null || once == Once.OFF ? null : once.name().toLowerCase(Locale.ROOT));
  }
}
