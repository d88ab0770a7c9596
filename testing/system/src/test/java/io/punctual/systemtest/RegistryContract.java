package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import tools.jackson.databind.JsonNode;

/** What holds wherever instances are registered. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
abstract class RegistryContract {

  // What docs/choose.md promises of a new instance.
  private static final Duration SOON = Duration.ofSeconds(5);

  /** Where instances are registered: a process that can be stopped where it stands. */
  private JavaProcess registry;

  private List<JavaProcess> schedulers;

  /** The jobs of the first four tests, which share instances: each start costs seconds. */
  private Workload load;

  /** The instance that the first test starts. The second test kills it and starts another one. */
  private JavaProcess resident;

  /** Starts where instances are registered, and waits until it is ready. */
  abstract JavaProcess startRegistry();

  /** Starts it again, after it was killed, and waits until it is ready. */
  abstract void startAgain(JavaProcess registry);

  /** Schedulers, not started, that work while the registry stands still. */
  abstract List<JavaProcess> schedulers(JavaProcess registry);

  /** An instance of an application, not started. */
  abstract JavaProcess worker(Workload load, String... options) throws IOException;

  /**
   * Options by which an instance recognizes schedulers' calls; none if the calls are not signed.
   */
  String[] credentials(Workload load) {
    return new String[0];
  }

  /** Keeps the queues of this test from those of another one. */
  final String keyPrefix() {
    return getClass().getSimpleName();
  }

  /** The word for the registry in the API. */
  abstract String source();

  /** Waits until an instance found a scheduler, which sees it under the name that it knows. */
  void awaitFoundByScheduler(JavaProcess instance) {
    instance.awaitLog("a scheduler reaches this instance at " + instance.url());
  }

  final JavaProcess registry() {
    return registry;
  }

  final List<JavaProcess> started() {
    return schedulers;
  }

  @BeforeAll
  final void start() throws IOException {
    registry = startRegistry();
    schedulers = schedulers(registry);
    load = Workload.of("resident");
    resident = worker(load);
    schedulers.forEach(JavaProcess::start);
    schedulers.forEach(JavaProcess::awaitReady);
  }

  /** Starts the instance that stays, unless it runs. */
  private void startResident() {
    if (!resident.isAlive()) {
      resident.start();
    }
    resident.awaitReady();
  }

  @AfterAll
  final void stop() {
    resident.close();
    schedulers.forEach(JavaProcess::close);
    registry.close();
  }

  private JavaProcess scheduler() {
    return schedulers.getFirst();
  }

  @Test
  @Order(1)
  void aNewInstanceGetsJobsSoonAndOneThatLeavesGetsNone() throws Exception {
    Submitter submitter = load.submitter();
    submitter.submit(scheduler(), "early-", 20, "record", System.currentTimeMillis(), 0);
    try (JavaProcess leaving = worker(load).start().awaitReady()) {
      awaitSoon("a new instance gets jobs", () -> !load.begun("early-").isEmpty());
      load.awaitDrained(scheduler());
      awaitKnown(load, leaving);
      assertThat(sources(load)).containsExactly(source());

      startResident();
      awaitKnown(load, leaving, resident);
      submitter.submit(scheduler(), "held-", 100, "sleep 500", System.currentTimeMillis(), 0);
      Waiting.until("they are under way", () -> load.underWay().size() > 20);
      leaving.terminate();

      awaitKnown(load, resident);
      submitter.submit(scheduler(), "late-", 20, "record", System.currentTimeMillis(), 0);
      load.awaitDrained(scheduler());
      assertThat(processes(load, "late-")).containsExactly(resident.pid());
      awaitFoundByScheduler(resident);
      Accounting accounting = load.account();
      assertThat(accounting.accepted()).isEqualTo(140);
      assertThat(accounting.repeated()).isEmpty();
    }
  }

  @Test
  @Order(2)
  void anInstanceThatIsKilledLosesNoJobAndIsForgotten() throws Exception {
    startResident();
    int before = load.account().accepted();
    Submitter submitter = load.submitter();
    submitter.submit(scheduler(), "lost-", 20, "sleep 3000", System.currentTimeMillis(), 0);
    Waiting.until("they are under way", () -> load.underWay().size() == 20);
    load.fault("the process that holds them is killed", resident::kill);
    resident.close();
    resident = worker(load);
    startResident();

    load.awaitDrained(scheduler());
    awaitKnown(load, resident);
    submitter.submit(scheduler(), "after-", 20, "record", System.currentTimeMillis(), 0);
    load.awaitDrained(scheduler());
    assertThat(processes(load, "after-")).containsExactly(resident.pid());
    assertThat(load.account().accepted()).isEqualTo(before + 40);
  }

  @Test
  @Order(3)
  void aNewTaskTypeWaitsForThoseThatKnowIt() throws Exception {
    startResident();
    Submitter newcomer = new Submitter(load.application(), "newcomer");
    try (JavaProcess next = worker(load, "--worker.extra=newcomer")) {
      awaitKnown(load, resident);
      newcomer.submit(scheduler(), "new-", 5, "record", System.currentTimeMillis(), 0);
      Waiting.until("they wait", () -> newcomer.queue(scheduler()).get("ready").intValue() == 5);

      next.start().awaitReady();
      awaitSoon("the new type runs", () -> !load.begun("new-").isEmpty());
      Waiting.until("they are done", () -> newcomer.drained(scheduler()));
      assertThat(load.begun("new-")).hasSize(5);
      assertThat(processes(load, "new-")).containsExactly(next.pid());
      next.terminate();
      awaitKnown(load, resident);
    }
  }

  @Test
  @Order(4)
  void aTypeThatIsAddedWhileAnInstanceLivesRunsThereSoonAndOneThatIsRemovedDoesNot()
      throws Exception {
    startResident();
    Submitter control = new Submitter(load.application(), "control");
    Submitter added = new Submitter(load.application(), "added");
    try (JavaProcess changing = worker(load, "--worker.extra=control").start().awaitReady();
        JavaProcess next = worker(load, "--worker.later=true", "--worker.type=added")) {
      awaitKnown(load, changing, resident);
      added.submit(scheduler(), "added-", 5, "record", System.currentTimeMillis(), 0);
      Waiting.until("they wait", () -> added.queue(scheduler()).get("ready").intValue() == 5);
      control.submitOne(scheduler(), "add", "add added", System.currentTimeMillis());
      awaitWithin(afterChange(), "the added type runs", () -> added.drained(scheduler()));
      assertThat(processes(load, "added-")).containsExactly(changing.pid());

      control.submitOne(scheduler(), "remove", "remove added", System.currentTimeMillis());
      awaitWithin(afterChange(), "the removed type is gone", () -> noneRuns("added", load));
      added.submit(scheduler(), "first-", 5, "record", System.currentTimeMillis(), 0);
      Waiting.until("they wait", () -> added.queue(scheduler()).get("ready").intValue() == 5);
      // It is registered without any worker, and adds this one afterwards.
      next.start().awaitReady();
      awaitWithin(afterChange(), "the first worker runs", () -> added.drained(scheduler()));
      assertThat(processes(load, "first-")).containsExactly(next.pid());
    }
  }

  /** Other registries do not tell that task types change: schedulers ask every five seconds. */
  private Duration afterChange() {
    return Set.of("eureka", "scheduler").contains(source()) ? SOON : SOON.multipliedBy(2);
  }

  private boolean noneRuns(String taskType, Workload load) throws IOException {
    for (JavaProcess scheduler : schedulers) {
      for (JsonNode worker : workers(scheduler, load)) {
        if (worker
            .get("taskTypes")
            .valueStream()
            .anyMatch(type -> type.asString().equals(taskType))) {
          return false;
        }
      }
    }
    return true;
  }

  @Test
  @Order(5)
  void aRegistryThatStandsStillOrIsKilledKeepsNoJobFromAKnownInstance() throws Exception {
    Workload standing = Workload.of("standing");
    Workload others = Workload.of("elsewhere");
    Submitter submitter = standing.submitter();
    try (JavaProcess known = worker(standing).start().awaitReady();
        JavaProcess elsewhere = atTheScheduler(others);
        JavaProcess late = worker(standing)) {
      awaitKnown(standing, known);
      registry.suspend();
      submitter.submit(scheduler(), "still-", 20, "record", System.currentTimeMillis(), 0);
      awaitSoon("they are done", () -> submitter.drained(scheduler()));
      awaitSoon("the scheduler's health answers", () -> isHealthy(scheduler()));

      // Those of another registry are seen as fast as ever, even the new ones.
      others.submitter().submit(scheduler(), "other-", 20, "record", System.currentTimeMillis(), 0);
      elsewhere.start().awaitReady();
      awaitSoon("another registry's instance gets jobs", () -> !others.begun("other-").isEmpty());
      others.awaitDrained(scheduler());

      registry.kill();
      submitter.submit(scheduler(), "gone-", 20, "record", System.currentTimeMillis(), 0);
      awaitSoon("they are done", () -> submitter.drained(scheduler()));

      startAgain(registry);
      late.start().awaitReady();
      awaitKnown(standing, known, late);
      submitter.submit(scheduler(), "again-", 20, "record", System.currentTimeMillis(), 0);
      standing.awaitDrained(scheduler());
      assertThat(standing.account().repeated()).isEmpty();
    }
  }

  private static boolean isHealthy(JavaProcess scheduler) throws Exception {
    return Http.get(scheduler.url() + "/actuator/health").status() == 200;
  }

  private JavaProcess atTheScheduler(Workload load) {
    return PROGRAMS.workerWithoutRegistry(
        List.of(scheduler()), load.application(), load.record(), credentials(load));
  }

  private void awaitSoon(String what, Callable<Boolean> condition) {
    awaitWithin(SOON, what, condition);
  }

  private void awaitWithin(Duration most, String what, Callable<Boolean> condition) {
    long begun = System.nanoTime();
    Waiting.until(what, most, condition);
    System.out.println(
        "%s, %s: within %d ms"
            .formatted(source(), what, Duration.ofNanos(System.nanoTime() - begun).toMillis()));
  }

  private void awaitKnown(Workload load, JavaProcess... instances) {
    Set<String> addresses = new TreeSet<>();
    for (JavaProcess instance : instances) {
      addresses.add(instance.address());
    }
    for (JavaProcess scheduler : schedulers) {
      Waiting.until(
          "scheduler %s knows the instances at %s".formatted(scheduler, addresses),
          () -> known(scheduler, load).equals(addresses));
    }
  }

  /** The addresses of the instances that a scheduler knows. */
  private static Set<String> known(JavaProcess scheduler, Workload load) throws IOException {
    Set<String> addresses = new TreeSet<>();
    for (JsonNode worker : workers(scheduler, load)) {
      addresses.add(URI.create(worker.get("callback").asString()).getAuthority());
    }
    return addresses;
  }

  private Set<String> sources(Workload load) throws IOException {
    Set<String> sources = new TreeSet<>();
    workers(scheduler(), load).forEach(worker -> sources.add(worker.get("source").asString()));
    return sources;
  }

  private static JsonNode workers(JavaProcess scheduler, Workload load) throws IOException {
    return Http.get(scheduler.url() + "/api/v1/workers?application=" + load.application())
        .json()
        .get("items");
  }

  /** The processes that ran jobs whose ids begin so. */
  static Set<Long> processes(Workload load, String prefix) throws IOException {
    return load.executions().stream()
        .filter(execution -> execution.taskId().startsWith(prefix))
        .map(Execution::process)
        .collect(Collectors.toSet());
  }
}
