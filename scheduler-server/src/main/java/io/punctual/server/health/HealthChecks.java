package io.punctual.server.health;

import io.punctual.core.Engine;
import io.punctual.core.ScannerHealth;
import io.punctual.core.StoreHealth;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.durability.StoreNode;
import io.punctual.server.dispatch.HttpDispatcher;
import io.punctual.server.health.Finding.Code;
import io.punctual.server.health.Finding.Subject;
import io.punctual.server.jobs.ApplicationQuotas;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.metrics.QueueStatistics;
import io.punctual.server.probe.ProbeResult;
import io.punctual.server.probe.Prober;
import io.punctual.server.probe.Status;
import io.punctual.server.probe.WorkerReport;
import io.punctual.server.registry.Installation;
import io.punctual.server.registry.RegistryContact;
import io.punctual.server.registry.ServedTypes;
import io.punctual.server.registry.WorkerDirectory;
import io.punctual.server.security.Caller;
import io.punctual.server.text.Text;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/** Checks everything that jobs need to be on time, as this scheduler sees it. */
@Component
public class HealthChecks {

  // Queues that are sampled at once, since no worker has room or jobs waited; normally there are
  // few.
  private static final int MOST_QUEUES = 200;
  // Of one application.
  private static final int MOST_WORKERS = 20;
  private static final int NAMED = 5;
  private static final Object DEAD = new Object();
  private static final Object OF_QUEUES = new Object();
  private static final int MOST_SHOWN = 50;
  private static final Set<Code> FROM_SAMPLES =
      EnumSet.of(Code.UNSERVED, Code.PARKED, Code.LATE, Code.FAILING, Code.PAUSED);
  private static final Duration CLOCK_WARNING = Duration.ofSeconds(2);
  private static final Duration CLOCK_PROBLEM = Duration.ofSeconds(60);
  // The registry is read every few seconds.
  private static final Duration VIEW_WARNING = Duration.ofSeconds(30);
  private static final Duration VIEW_PROBLEM = Duration.ofMinutes(5);
  private static final Duration FIRST_VIEW = Duration.ofSeconds(30);

  private final Engine engine;
  private final Store store;
  private final Prober prober;
  private final HttpDispatcher dispatcher;
  private final QueueStatistics statistics;
  private final WorkerDirectory workers;
  private final RegistryContact registry;
  private final ServedTypes served;
  private final OwnAddress address;
  private final ApplicationQuotas quotas;
  private final Installation installation;
  private final String redis;
  private final InstantSource clock = InstantSource.system();

  HealthChecks(
      Engine engine,
      Store store,
      Prober prober,
      HttpDispatcher dispatcher,
      QueueStatistics statistics,
      WorkerDirectory workers,
      RegistryContact registry,
      ServedTypes served,
      OwnAddress address,
      ApplicationQuotas quotas,
      Installation installation,
      @Value("${spring.data.redis.host:localhost}:${spring.data.redis.port:6379}") String redis) {
    this.engine = engine;
    this.store = store;
    this.prober = prober;
    this.dispatcher = dispatcher;
    this.statistics = statistics;
    this.workers = workers;
    this.registry = registry;
    this.served = served;
    this.address = address;
    this.quotas = quotas;
    this.installation = installation;
    this.redis = redis;
  }

  /** Returns what all checks find, or those of one application. */
  public List<Finding> all(@Nullable String application) {
    StoreHealth health = engine.storeHealth();
    List<Finding> checks = common(application);
    if (application == null && health.error() == null) {
      checks.add(clockCheck());
    }
    if (health.error() == null) {
      checks.addAll(queueChecks(application));
    }
    return checks;
  }

  /**
   * Returns what an operator ought to know, the most urgent first. It costs Redis nothing beyond
   * the look at the queues.
   */
  public List<Finding> problems(QueueStatistics.Snapshot queues) {
    return Stream.of(
            queues.once(DEAD, now -> QueueHealth.dead(now.all())).stream(),
            common(null).stream()
                .filter(finding -> finding.severity() != Status.OK)
                .sorted(Comparator.comparing(Finding::urgent).reversed())
                .limit(MOST_SHOWN),
            queues.once(OF_QUEUES, HealthChecks::ofQueues).stream())
        .flatMap(some -> some)
        .sorted(Comparator.comparing(Finding::urgent).reversed())
        .toList();
  }

  private static List<Finding> ofQueues(QueueStatistics.Snapshot queues) {
    Comparator<Finding> order =
        Comparator.comparing(Finding::urgent)
            .thenComparing(finding -> weight(finding, queues))
            .reversed();
    return queues.all().stream()
        .flatMap(queue -> QueueHealth.findings(queue).stream())
        .sorted(order)
        .limit(MOST_SHOWN)
        .toList();
  }

  private static long weight(Finding finding, QueueStatistics.Snapshot queues) {
    QueueSample queue = queues.queues().get(finding.subject().queue());
    return queue == null ? 0 : queue.stats().ready();
  }

  /** What is known without asking Redis. */
  private List<Finding> common(@Nullable String application) {
    List<Finding> checks = new ArrayList<>();
    if (application == null) {
      checks.addAll(store(engine.storeHealth(), redis));
      checks.addAll(scanners(engine.scanners()));
      checks.addAll(registryChecks());
      checks.addAll(versionChecks());
    }
    Map<String, List<WorkerReport>> reports =
        prober.workers(application).stream()
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
                    worker(
                        worker.application(),
                        "metadata",
                        Status.PROBLEM,
                        worker.instance(),
                        "metadata",
                        worker.reason(),
                        null)));
    checks.addAll(quotaChecks(application));
    return checks;
  }

  private List<Finding> quotaChecks(@Nullable String application) {
    return quotas.nearlyFull().stream()
        .filter(usage -> application == null || usage.application().equalsIgnoreCase(application))
        .map(
            usage ->
                Finding.of(
                    Code.QUOTA,
                    "",
                    usage.share() >= 1 ? Status.PROBLEM : Status.WARNING,
                    Subject.of(usage.application()),
                    "detail",
                    usage.text()))
        .toList();
  }

  /** Returns what is found of Redis, good or bad. */
  static List<Finding> store(StoreHealth health, String redis) {
    if (health.error() != null) {
      return List.of(
          Finding.of(
              Code.REDIS,
              health.refuses() ? "refuses" : "away",
              Status.PROBLEM,
              "detail",
              health.error(),
              "address",
              redis));
    }
    List<Finding> checks = new ArrayList<>();
    for (StoreNode.Finding finding : health.findings()) {
      int remedy = finding.text().lastIndexOf("; ");
      checks.add(
          Finding.of(
              Code.REDIS,
              "",
              finding.unsafe() ? Status.PROBLEM : Status.WARNING,
              "detail",
              finding.text(),
              "remedy",
              remedy < 0 ? finding.text() : sentence(finding.text().substring(remedy + 2))));
    }
    if (checks.isEmpty()) {
      checks.add(
          Finding.ok(
              Code.REDIS,
              health.nodes().isEmpty() ? "early" : "",
              "detail",
              health.nodes().stream()
                  .map(HealthChecks::describe)
                  .collect(Collectors.joining("; "))));
    }
    boolean kept = health.obstacles().isEmpty();
    checks.add(
        Finding.of(
            Code.DURABILITY,
            kept ? "kept" : "",
            kept ? Status.OK : Status.PROBLEM,
            "durability",
            health.durability().toString(),
            "detail",
            String.join("; ", health.obstacles())));
    if (!health.losses().isEmpty()) {
      checks.add(
          Finding.of(
              Code.LOSSES,
              "",
              Status.PROBLEM,
              "detail",
              health.losses().stream()
                  .map(loss -> loss.at() + ": " + loss.text())
                  .collect(Collectors.joining("; "))));
    }
    return checks;
  }

  /** Returns what is wrong with the scanners. */
  static List<Finding> scanners(ScannerHealth scanners) {
    List<Finding> findings = new ArrayList<>();
    if (!scanners.ended().isEmpty()) {
      findings.add(
          Finding.of(
              Code.SCANNERS, "", Status.PROBLEM, "detail", String.join(", ", scanners.ended())));
    }
    scanners
        .defects()
        .forEach(
            (duty, defect) ->
                findings.add(
                    Finding.of(
                        Code.SCANNERS, "defect", Status.WARNING, "duty", duty, "detail", defect)));
    return findings;
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

  /** Compares the clocks: jobs are due by Redis's, while callers name times by their own. */
  static Finding clock(long redisAheadMs) {
    Duration apart = Duration.ofMillis(Math.abs(redisAheadMs));
    return Finding.of(
        Code.CLOCK,
        "",
        severity(apart, CLOCK_WARNING, CLOCK_PROBLEM),
        "ms",
        apart.toMillis(),
        "side",
        Finding.part(redisAheadMs < 0 ? "clock.behind" : "clock.ahead"));
  }

  private static Status severity(Duration value, Duration warning, Duration problem) {
    if (value.compareTo(problem) > 0) {
      return Status.PROBLEM;
    }
    return value.compareTo(warning) > 0 ? Status.WARNING : Status.OK;
  }

  private Finding clockCheck() {
    try {
      long sent = clock.millis();
      long redisNow = store.inspector().now();
      long here = sent + (clock.millis() - sent) / 2;
      return clock(redisNow - here);
    } catch (StoreException e) {
      return Finding.of(
          Code.CLOCK, "unread", Status.WARNING, "detail", String.valueOf(e.getMessage()));
    }
  }

  /** Returns what is found of a registry's view, good or bad. */
  static Finding view(RegistryContact.View view) {
    Duration age = view.age();
    return age == null
        ? Finding.of(
            Code.REGISTRY,
            "none",
            view.waited().compareTo(FIRST_VIEW) < 0 ? Status.WARNING : Status.PROBLEM,
            "addresses",
            view.addresses(),
            "setting",
            view.setting())
        : Finding.of(
            Code.REGISTRY,
            "",
            severity(age, VIEW_WARNING, VIEW_PROBLEM),
            "addresses",
            view.addresses(),
            "setting",
            view.setting(),
            "seconds",
            Long.toString(age.toSeconds()));
  }

  private List<Finding> registryChecks() {
    List<RegistryContact.View> views = registry.views();
    if (views.isEmpty()) {
      return List.of(Finding.ok(Code.REGISTRY, "unused"));
    }
    List<Finding> checks = new ArrayList<>();
    views.forEach(view -> checks.add(view(view)));
    if (views.stream().allMatch(view -> view.age() == null)) {
      return checks;
    }
    Finding own = address.finding();
    if (!registry.showsUs()) {
      checks.add(Finding.of(Code.REGISTRATION, "hidden", Status.WARNING));
    } else {
      checks.add(own == null ? Finding.ok(Code.REGISTRATION, "shown") : own);
    }
    List<String> others = installation.others();
    if (!others.isEmpty()) {
      checks.add(
          Finding.of(
              Code.INSTALLATION,
              "",
              Status.WARNING,
              "detail",
              others.stream().limit(MOST_WORKERS).collect(Collectors.joining(", "))));
    }
    return checks;
  }

  private List<Finding> versionChecks() {
    Map<String, List<String>> versions = new TreeMap<>();
    engine
        .members()
        .forEach(
            (name, version) ->
                versions.computeIfAbsent(version, any -> new ArrayList<>()).add(name));
    if (versions.size() < 2) {
      return List.of();
    }
    String detail =
        versions.entrySet().stream()
            .limit(NAMED)
            .map(one -> one.getKey() + " (" + some(one.getValue()) + ")")
            .collect(Collectors.joining(", "));
    return List.of(Finding.of(Code.VERSIONS, "", Status.WARNING, "detail", detail));
  }

  private static String some(List<String> names) {
    String first = names.stream().limit(NAMED).collect(Collectors.joining(", "));
    return names.size() > NAMED ? first + ", ..." : first;
  }

  private static List<Finding> workerChecks(String application, List<WorkerReport> reports) {
    List<Finding> checks = new ArrayList<>();
    int well = 0;
    int failing = 0;
    int problems = 0;
    for (WorkerReport report : reports) {
      InstanceHealth.State state = InstanceHealth.state(report);
      problems += state == InstanceHealth.State.PROBLEM ? 1 : 0;
      if (!state.isBad()) {
        well++;
      } else if (state == InstanceHealth.State.FAILING) {
        failing++;
      } else if (checks.size() < MOST_WORKERS) {
        checks.add(worker(report, state));
      }
    }
    // An instance that is left alone, or should be checked, still gets jobs, or soon does again.
    Status reached = problems < reports.size() ? Status.WARNING : Status.PROBLEM;
    checks.add(
        0,
        Finding.of(
            Code.WORKERS,
            failing > 0 ? "failing" : "",
            well == 0 ? reached : Status.OK,
            Subject.of(application),
            "well",
            Integer.toString(well),
            "all",
            Integer.toString(reports.size()),
            "failing",
            Integer.toString(failing)));
    InstanceHealth.outliers(reports).stream()
        .limit(MOST_WORKERS)
        .map(InstanceHealth.Outlier::finding)
        .forEach(checks::add);
    return checks;
  }

  private static Finding worker(WorkerReport report, InstanceHealth.State state) {
    ProbeResult probe = report.probe();
    return state == InstanceHealth.State.AVOIDED || probe == null
        ? worker(
            report.application(),
            state.word(),
            Status.WARNING,
            report.instance(),
            state.word(),
            Objects.requireNonNullElse(report.lastCallError(), ""),
            null)
        : worker(
            report.application(),
            "",
            probe.status(),
            report.instance(),
            probe.code().word(),
            probe.messageText(),
            probe.remedyText());
  }

  private static Finding worker(
      String application,
      String variant,
      Status severity,
      String instance,
      String code,
      Object detail,
      @Nullable Text remedy) {
    return Finding.of(
        Code.WORKER,
        variant,
        severity,
        Subject.of(application),
        "instance",
        instance,
        "code",
        code,
        "detail",
        detail,
        "remedy",
        remedy == null ? "" : remedy);
  }

  private List<Finding> queueChecks(@Nullable String application) {
    List<Finding> findings = new ArrayList<>();
    Map<Code, Map<String, List<Object>>> found = new EnumMap<>(Code.class);
    int looked = 0;
    try {
      for (QueueName queue : new TreeSet<>(engine.queues().keySet())) {
        if (!isOf(application, queue.application())) {
          continue;
        }
        Optional<QueueSample> sample = statistics.last(queue);
        if (looked < MOST_QUEUES
            && (!dispatcher.hasCapacity(queue) || sample.filter(HealthChecks::waits).isPresent())) {
          // The last look may be from before there was room, or none was there yet.
          looked++;
          sample = statistics.look(queue);
        }
        boolean circuitOpen = statistics.isCircuitOpen(queue);
        if (circuitOpen) {
          add(
              found,
              Code.CIRCUITS,
              queue,
              sample
                  .<Object>map(known -> QueueHealth.name(Code.CIRCUITS, known))
                  .orElse(queue.taskType()));
        }
        sample.ifPresent(
            known ->
                QueueHealth.findings(known).stream()
                    .map(Finding::code)
                    .filter(FROM_SAMPLES::contains)
                    .forEach(code -> add(found, code, queue, QueueHealth.name(code, known))));
      }
    } catch (StoreException e) {
      findings.add(
          Finding.of(
              Code.QUEUES,
              "unread",
              Status.WARNING,
              Subject.of(application),
              "detail",
              String.valueOf(e.getMessage())));
    }
    engine
        .scanners()
        .damaged()
        .forEach(
            (queue, damage) -> {
              if (isOf(application, queue.application())) {
                findings.add(QueueHealth.damaged(queue, damage));
              }
            });
    found.forEach(
        (code, byApplication) ->
            byApplication.forEach(
                (name, types) ->
                    findings.add(
                        QueueHealth.of(
                            code,
                            Subject.of(name),
                            name,
                            types,
                            code == Code.UNSERVED ? meant(name, types) : List.of()))));
    if (findings.isEmpty()) {
      findings.add(Finding.of(Code.QUEUES, "", Status.OK, Subject.of(application)));
    }
    return findings;
  }

  private static boolean waits(QueueSample queue) {
    return queue.stats().ready() > 0;
  }

  private static void add(
      Map<Code, Map<String, List<Object>>> found, Code code, QueueName queue, Object name) {
    found
        .computeIfAbsent(code, any -> new TreeMap<>())
        .computeIfAbsent(queue.application(), any -> new ArrayList<>())
        .add(name);
  }

  private static boolean isOf(@Nullable String wanted, String application) {
    return wanted == null || application.equalsIgnoreCase(wanted);
  }

  private List<Text> meant(String application, List<?> types) {
    boolean others = Caller.current().application() == null;
    return types.stream()
        .limit(NAMED)
        .map(type -> new QueueName(application, type.toString()))
        .flatMap(queue -> Stream.ofNullable(served.meant(queue, others)))
        .distinct()
        .map(
            meant ->
                meant.taskType() == null
                    ? Finding.part("hint.name", "application", application, "near", meant.near())
                    : Finding.part(
                        "hint.type",
                        "application",
                        application,
                        "type",
                        meant.taskType(),
                        "near",
                        meant.near()))
        .toList();
  }
}
