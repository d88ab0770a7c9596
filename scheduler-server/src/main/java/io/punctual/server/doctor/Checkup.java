package io.punctual.server.doctor;

import io.punctual.core.Engine;
import io.punctual.core.QueueStats;
import io.punctual.core.StoreHealth;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.durability.StoreNode;
import io.punctual.server.dispatch.HttpDispatcher;
import io.punctual.server.jobs.ApplicationQuotas;
import io.punctual.server.registry.Installation;
import io.punctual.server.registry.RegistryContact;
import io.punctual.server.registry.ServedTypes;
import io.punctual.server.registry.WorkerDirectory;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/** Looks at everything that jobs need to be on time, as this scheduler sees it. */
@Component
public class Checkup {

  // Of the queues that nobody seems to serve, which are few where things are well.
  private static final int MOST_QUEUES = 200;
  // Of one application.
  private static final int MOST_WORKERS = 20;
  private static final int NAMED = 5;
  // Within this time somebody may just be coming for a job that is due.
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Duration CLOCK_WARNING = Duration.ofSeconds(2);
  private static final Duration CLOCK_PROBLEM = Duration.ofSeconds(60);
  // The registry is read every few seconds.
  private static final Duration VIEW_WARNING = Duration.ofSeconds(30);
  private static final Duration VIEW_PROBLEM = Duration.ofMinutes(5);
  private static final Duration FIRST_VIEW = Duration.ofSeconds(30);
  private static final String TIME_SERVICE =
      "Let both machines keep their time by NTP (chrony, systemd-timesyncd).";

  private final Engine engine;
  private final Store store;
  private final Doctor doctor;
  private final HttpDispatcher dispatcher;
  private final WorkerDirectory workers;
  private final RegistryContact registry;
  private final ServedTypes served;
  private final OwnAddress address;
  private final ApplicationQuotas quotas;
  private final Installation installation;
  private final String redis;
  private final InstantSource clock = InstantSource.system();

  Checkup(
      Engine engine,
      Store store,
      Doctor doctor,
      HttpDispatcher dispatcher,
      WorkerDirectory workers,
      RegistryContact registry,
      ServedTypes served,
      OwnAddress address,
      ApplicationQuotas quotas,
      Installation installation,
      @Value("${spring.data.redis.host:localhost}:${spring.data.redis.port:6379}") String redis) {
    this.engine = engine;
    this.store = store;
    this.doctor = doctor;
    this.dispatcher = dispatcher;
    this.workers = workers;
    this.registry = registry;
    this.served = served;
    this.address = address;
    this.quotas = quotas;
    this.installation = installation;
    this.redis = redis;
  }

  /** All checks, or those of one application. */
  public List<Check> run(@Nullable String application) {
    List<Check> checks = new ArrayList<>();
    StoreHealth health = engine.storeHealth();
    if (application == null) {
      checks.addAll(storeChecks(health));
      checks.addAll(registryChecks());
    }
    Map<String, List<WorkerReport>> reports =
        doctor.workers(application).stream()
            .collect(
                Collectors.groupingBy(
                    WorkerReport::application, TreeMap::new, Collectors.toList()));
    reports.forEach((name, instances) -> checks.addAll(workerChecks(name, instances)));
    Map<String, Integer> named = new HashMap<>();
    workers.unusable().stream()
        .filter(worker -> application == null || worker.application().equalsIgnoreCase(application))
        .filter(
            worker ->
                named.merge(worker.application().toLowerCase(Locale.ROOT), 1, Integer::sum)
                    <= MOST_WORKERS)
        .forEach(
            worker ->
                checks.add(
                    new Check(
                        Check.Name.WORKER,
                        worker.application(),
                        Status.PROBLEM,
                        worker.instance() + " (metadata): " + worker.reason(),
                        "Correct what the instance says of itself in the registry, host and"
                            + " metadata (docs/api.md, Callbacks); the instance gets no jobs until"
                            + " then, and is in no list.")));
    if (health.error() == null) {
      checks.addAll(queueChecks(application));
    }
    checks.addAll(quotaChecks(application));
    return checks;
  }

  private List<Check> quotaChecks(@Nullable String application) {
    return quotas.nearlyFull().stream()
        .filter(usage -> application == null || usage.application().equalsIgnoreCase(application))
        .map(
            usage ->
                new Check(
                    Check.Name.QUOTA,
                    usage.application(),
                    usage.share() >= 1 ? Status.PROBLEM : Status.WARNING,
                    usage.text(),
                    "Beyond that its submits are refused (429). See why its jobs do not run, purge"
                        + " what is not needed, or raise punctual.quota of the schedulers."))
        .toList();
  }

  private List<Check> storeChecks(StoreHealth health) {
    if (health.error() != null) {
      return List.of(
          new Check(
              Check.Name.REDIS,
              null,
              Status.PROBLEM,
              "Redis does not answer: " + health.error(),
              "See that it runs and is reached at "
                  + redis
                  + " (spring.data.redis.host, port, username, password). Nothing that was accepted"
                  + " is lost by this; submits are answered by 503 meanwhile."));
    }
    List<Check> checks = new ArrayList<>();
    for (StoreNode.Finding finding : health.findings()) {
      int cure = finding.text().lastIndexOf("; ");
      checks.add(
          new Check(
              Check.Name.REDIS,
              null,
              finding.unsafe() ? Status.PROBLEM : Status.WARNING,
              finding.text(),
              cure < 0 ? finding.text() : sentence(finding.text().substring(cure + 2))));
    }
    if (checks.isEmpty()) {
      checks.add(
          ok(
              Check.Name.REDIS,
              health.nodes().isEmpty()
                  ? "Redis answers; it was not looked at more closely yet"
                  : health.nodes().stream()
                      .map(Checkup::describe)
                      .collect(Collectors.joining("; "))));
    }
    checks.add(
        health.obstacles().isEmpty()
            ? ok(Check.Name.DURABILITY, "punctual.durability=" + health.durability() + " is kept")
            : new Check(
                Check.Name.DURABILITY,
                null,
                Status.PROBLEM,
                "punctual.durability="
                    + health.durability()
                    + " cannot be kept: "
                    + String.join("; ", health.obstacles()),
                "Set Redis up as it says, or choose another punctual.durability."));
    if (!health.losses().isEmpty()) {
      checks.add(
          new Check(
              Check.Name.LOSSES,
              null,
              Status.PROBLEM,
              health.losses().stream()
                  .map(loss -> loss.at() + ": " + loss.text())
                  .collect(Collectors.joining("; ")),
              "See which jobs are missing, submit them again, and then POST"
                  + " /api/v1/store/losses/acknowledge."));
    }
    checks.add(clockCheck());
    return checks;
  }

  private static String describe(StoreNode node) {
    return "Redis "
        + node.version()
        + " at "
        + node.address()
        + ", maxmemory-policy "
        + Objects.requireNonNullElse(node.evictionPolicy(), "unknown")
        + ", persistence "
        + node.persistence().name().toLowerCase(Locale.ROOT).replace('_', '-')
        + (node.persistence() == StoreNode.Persistence.LOG
            ? " (appendfsync everysec, or CONFIG GET is refused)"
            : "");
  }

  private static String sentence(String text) {
    return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1) + ".";
  }

  /** Due times are Redis's; a time that somebody names is meant by the clocks of the world. */
  static Check clock(long redisAheadMs) {
    Duration apart = Duration.ofMillis(Math.abs(redisAheadMs));
    String seen =
        "Redis's clock is "
            + apart.toMillis()
            + " ms "
            + (redisAheadMs < 0 ? "behind" : "ahead of")
            + " this scheduler's";
    return apart.compareTo(CLOCK_WARNING) <= 0
        ? ok(Check.Name.CLOCK, seen)
        : new Check(
            Check.Name.CLOCK,
            null,
            apart.compareTo(CLOCK_PROBLEM) > 0 ? Status.PROBLEM : Status.WARNING,
            seen,
            TIME_SERVICE
                + " Jobs are due by Redis's clock: those with a dueAt or delayTime are off by as"
                + " much as that one is wrong.");
  }

  private Check clockCheck() {
    try {
      long sent = clock.millis();
      long redisNow = store.inspector().now();
      long here = sent + (clock.millis() - sent) / 2;
      return clock(redisNow - here);
    } catch (StoreException e) {
      return new Check(
          Check.Name.CLOCK,
          null,
          Status.WARNING,
          "Redis's clock could not be read: " + e.getMessage(),
          "Try again; the check redis says more.");
    }
  }

  /**
   * The registry's view.
   *
   * @param age null if there is none yet
   * @param waited how long there has been time for one
   */
  static Check view(String addresses, @Nullable Duration age, Duration waited) {
    if (age == null) {
      return new Check(
          Check.Name.REGISTRY,
          null,
          waited.compareTo(FIRST_VIEW) < 0 ? Status.WARNING : Status.PROBLEM,
          "Nothing came from the registry at " + addresses + " yet",
          "See that it runs, and that eureka.client.service-url.defaultZone (EUREKA_URL) of the"
              + " scheduler is its address, with its user and password. Jobs wait meanwhile.");
    }
    String seen = "The view of " + addresses + " is " + age.toSeconds() + " s old";
    return age.compareTo(VIEW_WARNING) <= 0
        ? ok(Check.Name.REGISTRY, seen)
        : new Check(
            Check.Name.REGISTRY,
            null,
            age.compareTo(VIEW_PROBLEM) > 0 ? Status.PROBLEM : Status.WARNING,
            seen,
            "See that the registry runs and is reached (eureka.client.service-url.defaultZone)."
                + " Instances that were known are used on; new ones are not seen.");
  }

  private List<Check> registryChecks() {
    if (!registry.isUsed()) {
      return List.of(
          ok(
              Check.Name.REGISTRY,
              "eureka.client.enabled=false: instances stand in the configuration"));
    }
    Duration age = registry.age();
    Check view = view(registry.addresses(), age, registry.waited());
    if (age == null) {
      return List.of(view);
    }
    OwnAddress.Seen own = address.seen();
    List<Check> checks = new ArrayList<>();
    checks.add(view);
    checks.add(
        registry.showsUs()
            ? own == null
                ? ok(Check.Name.REGISTRATION, "The registry shows this scheduler")
                : own.check()
            : new Check(
                Check.Name.REGISTRATION,
                null,
                Status.WARNING,
                "The registry does not show this scheduler",
                "Applications that look schedulers up there do not find this one. Wait for half a"
                    + " minute after a start; then look at eureka.client.register-with-eureka and"
                    + " eureka.instance.hostname of the scheduler."));
    List<String> others = installation.others();
    if (!others.isEmpty()) {
      checks.add(
          new Check(
              Check.Name.INSTALLATION,
              null,
              Status.WARNING,
              "The registry shows schedulers that use another Redis or key prefix: "
                  + String.join(", ", others.subList(0, Math.min(MOST_WORKERS, others.size()))),
              "An application sends its jobs to any of them, and finds a job only where it was"
                  + " sent. Let all use one Redis and one punctual.key-prefix; or give each"
                  + " installation a name of its own: spring.application.name of the schedulers,"
                  + " punctual.client.service-id of their applications."));
    }
    return checks;
  }

  private static List<Check> workerChecks(String application, List<WorkerReport> reports) {
    List<Check> checks = new ArrayList<>();
    int well = 0;
    for (WorkerReport report : reports) {
      Diagnosis diagnosis = report.diagnosis();
      if (diagnosis == null || diagnosis.status() == Status.OK) {
        well++;
      } else if (checks.size() < MOST_WORKERS) {
        checks.add(
            new Check(
                Check.Name.WORKER,
                application,
                diagnosis.status(),
                report.instance() + " (" + diagnosis.code().word() + "): " + diagnosis.seen(),
                diagnosis.cure()));
      }
    }
    checks.add(
        0,
        new Check(
            Check.Name.WORKERS,
            application,
            well == 0 ? Status.PROBLEM : Status.OK,
            well + " of " + reports.size() + " instances in the registry are well",
            well == 0 ? "The checks of the instances have the cures." : null));
    return checks;
  }

  private List<Check> queueChecks(@Nullable String application) {
    List<Check> checks = new ArrayList<>();
    Map<String, Set<String>> unserved = new TreeMap<>();
    Map<String, Set<String>> parked = new TreeMap<>();
    Map<String, Set<String>> open = new TreeMap<>();
    int looked = 0;
    try {
      for (QueueName queue : new TreeSet<>(engine.queues().keySet())) {
        if (application != null && !queue.application().equalsIgnoreCase(application)) {
          continue;
        }
        if (dispatcher.isCircuitOpen(queue)) {
          open.computeIfAbsent(queue.application(), a -> new LinkedHashSet<>())
              .add(queue.taskType());
        }
        if (dispatcher.hasCapacity(queue) || looked >= MOST_QUEUES) {
          continue;
        }
        looked++;
        Optional<QueueStats> stats = engine.stats(queue).filter(Checkup::isLate);
        if (stats.isPresent()) {
          boolean nobody = workers.instances(queue.application(), queue.taskType()).isEmpty();
          (nobody ? unserved : parked)
              .computeIfAbsent(queue.application(), a -> new LinkedHashSet<>())
              .add(queue.taskType());
        }
      }
    } catch (StoreException e) {
      checks.add(
          new Check(
              Check.Name.QUEUES,
              application,
              Status.WARNING,
              "The queues could not be looked at: " + e.getMessage(),
              "Try again; the check redis says more."));
    }
    engine
        .scanners()
        .damaged()
        .forEach(
            (queue, damage) -> {
              if (application == null || queue.application().equalsIgnoreCase(application)) {
                checks.add(damaged(queue, damage));
              }
            });
    unserved.forEach(
        (name, types) ->
            checks.add(
                new Check(
                    Check.Name.UNSERVED,
                    name,
                    Status.PROBLEM,
                    "Jobs are due, and no instance of " + name + " runs " + some(types),
                    meant(name, types)
                        + "Start one with a TaskWorker of that type; its own log names the types"
                        + " that it runs. An application of another name gets none of them:"
                        + " spring.application.name. If they are fetched"
                        + " (punctual.client.delivery=pull, pop), nobody does so now.")));
    parked.forEach(
        (name, types) ->
            checks.add(
                new Check(
                    Check.Name.PARKED,
                    name,
                    Status.PROBLEM,
                    "Jobs are due, and no instance of " + name + " takes " + some(types) + " now",
                    "Instances are busy (punctual.client.concurrency), not reached (the checks of"
                        + " their own say why), or the queue's circuit is open.")));
    open.forEach(
        (name, types) ->
            checks.add(
                new Check(
                    Check.Name.CIRCUITS,
                    name,
                    Status.PROBLEM,
                    "All that was sent lately of " + some(types) + " failed, so that its jobs wait",
                    "The jobs' last errors say why (GET /api/v1/jobs with the queue's state). It"
                        + " closes by itself once a job succeeds (punctual.dispatch.circuit).")));
    if (checks.isEmpty()) {
      checks.add(
          new Check(
              Check.Name.QUEUES, application, Status.OK, "No queue waits for a worker", null));
    }
    return checks;
  }

  private String meant(String application, Set<String> types) {
    return types.stream()
        .limit(NAMED)
        .map(type -> served.unserved(new QueueName(application, type), true))
        .filter(hint -> hint != null && hint.contains("; "))
        .distinct()
        .map(hint -> sentence(hint) + " ")
        .collect(Collectors.joining());
  }

  private static Check damaged(QueueName queue, String damage) {
    return new Check(
        Check.Name.DAMAGED,
        queue.application(),
        Status.PROBLEM,
        "The keys of " + queue + " in Redis are damaged, so that its jobs wait: " + damage,
        "Find out what wrote that key, and rename or delete it (RENAME, DEL): the queue goes on by"
            + " itself within half a minute. What had stood there is gone with it: submit the"
            + " queue's jobs again, with the same ids, or bring the key back from a copy.");
  }

  private static boolean isLate(QueueStats stats) {
    Long oldest = stats.oldestReady();
    return stats.ready() > 0
        && stats.pausedSince() == null
        && oldest != null
        && stats.now() - oldest > PATIENCE.toMillis();
  }

  private static String some(Set<String> types) {
    String named = types.stream().limit(NAMED).collect(Collectors.joining(", "));
    return types.size() > NAMED ? named + " and " + (types.size() - NAMED) + " more" : named;
  }

  private static Check ok(Check.Name name, String seen) {
    return new Check(name, null, Status.OK, seen, null);
  }
}
