package io.punctual.spring.client.actuate;

import io.punctual.client.ClientIdentity;
import io.punctual.client.callback.AdvertisedCallback;
import io.punctual.client.doctor.ReachReport;
import io.punctual.client.registration.InstanceRegistration;
import io.punctual.client.run.JobRunner;
import io.punctual.client.submit.SchedulerContact;
import io.punctual.client.submit.SchedulerLocator;
import io.punctual.internal.ConfiguredUrl;
import io.punctual.internal.TaskWorkers;
import io.punctual.spring.Once;
import io.punctual.spring.WorkerSettings;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/**
 * {@code /actuator/punctual}: what this instance runs and how, where it is called, which schedulers
 * it knows, and what came of calling them. No secrets, and nothing of any job.
 */
@Endpoint(id = "punctual")
public final class PunctualEndpoint {

  private final ClientIdentity identity;
  private final String delivery;
  private final TaskWorkers workers;
  private final JobRunner runner;
  private final int concurrency;
  private final Function<String, WorkerSettings> settings;
  private final ToIntFunction<String> places;
  private final SchedulerLocator locator;
  private final Supplier<@Nullable InstanceRegistration> registration;
  private final Supplier<@Nullable ReachReport> reach;

  /**
   * @param delivery {@code push} or {@code pull}
   * @param concurrency jobs that this instance runs at once
   * @param settings of a task type
   * @param places most jobs of a task type at once
   * @param registration by which schedulers know this instance; gives null where there is none
   * @param reach what schedulers see of this instance; gives null where none is asked
   */
  public PunctualEndpoint(
      ClientIdentity identity,
      String delivery,
      TaskWorkers workers,
      JobRunner runner,
      int concurrency,
      Function<String, WorkerSettings> settings,
      ToIntFunction<String> places,
      SchedulerLocator locator,
      Supplier<@Nullable InstanceRegistration> registration,
      Supplier<@Nullable ReachReport> reach) {
    this.identity = identity;
    this.delivery = delivery;
    this.workers = workers;
    this.runner = runner;
    this.concurrency = concurrency;
    this.settings = settings;
    this.places = places;
    this.locator = locator;
    this.registration = registration;
    this.reach = reach;
  }

  /**
   * All of it.
   *
   * @param application its name for schedulers
   * @param delivery who begins: {@code push} or {@code pull}
   * @param callback where this instance is called; null where schedulers are not told
   * @param registrationError why schedulers may not know this instance; null where nothing is in
   *     the way
   * @param reach what a scheduler saw when it was asked to call; null where none was asked
   * @param concurrency jobs that this instance runs at once
   * @param running jobs that run now
   * @param free jobs that it could run beside them
   * @param taskTypes what it runs, by task type
   * @param schedulers those that are known now
   * @param schedulersError why it is not known which there are; null where it is
   * @param lastAnswer when any scheduler answered a call last; null if none ever did
   */
  public record Description(
      String application,
      String delivery,
      @Nullable URI callback,
      @Nullable String registrationError,
      ReachReport.@Nullable Finding reach,
      int concurrency,
      int running,
      int free,
      Map<String, TaskType> taskTypes,
      List<Scheduler> schedulers,
      @Nullable String schedulersError,
      @Nullable Instant lastAnswer) {}

  /**
   * A task type.
   *
   * @param concurrency jobs of it that this instance runs at once
   * @param running jobs of it that run now
   * @param timeToRun of jobs that this application sends without one; null where the scheduler's
   *     counts
   * @param retry likewise
   * @param once {@code database} where a job takes effect once; null where it may run again
   */
  public record TaskType(
      int concurrency,
      int running,
      @Nullable Duration timeToRun,
      @Nullable String retry,
      @Nullable String once) {}

  /**
   * A scheduler.
   *
   * @param url its address, without names and passwords
   * @param answered when it answered a call last; null if it never did
   * @param failed when it last gave no answer; null where it answered since then, or was never
   *     called
   * @param error why there was no answer
   */
  public record Scheduler(
      String url, @Nullable Instant answered, @Nullable Instant failed, @Nullable String error) {

    static Scheduler of(SchedulerContact contact) {
      return new Scheduler(
          ConfiguredUrl.masked(contact.scheduler()),
          contact.answered(),
          contact.failed(),
          contact.error());
    }
  }

  /** Describes this instance. */
  @ReadOperation
  public Description describe() {
    Map<String, Integer> running = runner.running();
    Map<String, TaskType> types = new TreeMap<>();
    for (String type : workers.types()) {
      types.put(type, taskType(type, running.getOrDefault(type, 0)));
    }
    InstanceRegistration own = registration.get();
    AdvertisedCallback advertised = own == null ? null : own.advertised();
    ReachReport report = reach.get();
    List<Scheduler> schedulers = List.of();
    String schedulersError = null;
    try {
      schedulers = locator.contacts().stream().map(Scheduler::of).toList();
    } catch (RuntimeException e) {
      schedulersError = e.toString();
    }
    return new Description(
        identity.application(),
        delivery,
        advertised == null ? null : advertised.address(),
        own == null ? null : own.error(),
        report == null ? null : report.last(),
        concurrency,
        running.values().stream().mapToInt(Integer::intValue).sum(),
        runner.free(),
        types,
        schedulers,
        schedulersError,
        locator.lastAnswer());
  }

  private TaskType taskType(String type, int running) {
    WorkerSettings of = settings.apply(type);
    return new TaskType(
        places.applyAsInt(type),
        running,
        of.timeToRun(),
        of.retry() == null ? null : of.retry().text(),
        of.once() == null || of.once() == Once.OFF
            ? null
            : of.once().name().toLowerCase(Locale.ROOT));
  }
}
