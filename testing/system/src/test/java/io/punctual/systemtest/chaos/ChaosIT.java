package io.punctual.systemtest.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.Accounting;
import io.punctual.systemtest.Change;
import io.punctual.systemtest.ChangingLoad;
import io.punctual.systemtest.Execution;
import io.punctual.systemtest.ExecutionLog;
import io.punctual.systemtest.Fault;
import io.punctual.systemtest.History;
import io.punctual.systemtest.Load;
import io.punctual.systemtest.Programs;
import io.punctual.systemtest.Submitter;
import io.punctual.systemtest.Waiting;
import io.punctual.systemtest.worker.WorkerApplication;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import tools.jackson.databind.JsonNode;

/**
 * Jobs are submitted, changed, pushed and pulled all the time, and all the time something breaks.
 * Then everything is repaired, and each job must have been done once, or more often with a cause,
 * as its last acknowledged change wants it.
 *
 * <p>{@code -Dpunctual.chaos.seed} draws other faults, the same ones for the same seed, {@code
 * -Dpunctual.chaos.seconds} makes it longer, {@code -Dpunctual.chaos.only=REDIS_KILLED,REDIS_FULL}
 * leaves all others out.
 */
@Isolated("a lease that ends because the machine is busy is a repeat without a cause")
@Tag("full")
class ChaosIT {

  private static final String APPLICATION = "chaos";
  private static final List<Disorder> DISORDERS =
      Arrays.stream(Disorder.values())
          .filter(
              disorder ->
                  System.getProperty("punctual.chaos.only", "").isEmpty()
                      || List.of(System.getProperty("punctual.chaos.only").split(",", -1))
                          .contains(disorder.toString()))
          .toList();
  // A fail-over, a bulk move, a stalled body, a killed scheduler, a start without registry,
  // strangers,
  // a puller told to end and four of five workers killed are the first eight faults. A change is
  // judged by these, and not by its luck with others.
  private static final long SEED = 73_507_612;
  // On a busy machine it takes longer to come to them.
  private static final int FIRST = 8;
  // Once in so many times.
  private static final int TWO_AT_ONCE = 10;
  private static final int SCHEDULERS = 2;
  private static final int WORKERS = 5;
  // Those with the starter, and those without.
  private static final int STARTER_PULLERS = 2;
  private static final int PULLERS = 3;
  // The starter's default.
  private static final int CONCURRENCY = 100;
  private static final String PULLED = "pulled-";
  private static final String RETRY = "200ms;attempts=100";
  private static final Duration DRAIN = Duration.ofMinutes(3);
  private static final Duration RECOVERY = Duration.ofSeconds(60);

  private final Path directory = Path.of("target", "chaos").toAbsolutePath();
  private final Path record = directory.resolve("workers.record");
  private final Submitter submitter = new Submitter(APPLICATION);
  // Of jobs that may run for four seconds; some take seven.
  private final Submitter hasty = new Submitter(APPLICATION);
  private final Submitter pulled = new Submitter(APPLICATION, ChaosSystem.PULLED);
  private final List<Fault> faults = new ArrayList<>();
  private final Map<Disorder, Integer> counts = new EnumMap<>(Disorder.class);
  private Duration worstRecovery = Duration.ZERO;
  private String worst = "";

  @Test
  void nothingIsLostWhateverBreaks() throws Exception {
    long seed = Long.getLong("punctual.chaos.seed", SEED);
    Duration length = Duration.ofSeconds(Integer.getInteger("punctual.chaos.seconds", 45));
    System.out.println("chaos: -Dpunctual.chaos.seed=" + seed + ", " + length.toSeconds() + " s");
    Files.createDirectories(directory);
    Files.deleteIfExists(record);
    Chronicle chronicle = new Chronicle(directory);
    Random random = new Random(seed);

    try (ChaosSystem system =
        new ChaosSystem(
            new Programs(directory), APPLICATION, record, SCHEDULERS, WORKERS, STARTER_PULLERS)) {
      // Before there are jobs: to measure stops a scheduler, on a busy machine for a lease's time.
      Audit audit =
          new Audit(
              system,
              APPLICATION,
              List.of(
                  WorkerApplication.TYPE,
                  ChaosSystem.CHANGED,
                  ChaosSystem.BULK,
                  ChaosSystem.PULLED));
      audit.awaitWorkers();
      ChangingLoad changing =
          new ChangingLoad(APPLICATION, ChaosSystem.CHANGED, system.submitAddresses());
      Pulls pulls =
          new Pulls(
              APPLICATION, ChaosSystem.CHANGED, ChangingLoad.timeToRun(), system.submitAddresses());
      String scheduler = system.schedulers().get(0).url();
      hasty.mayRunFor(Duration.ofSeconds(4));
      int submits;
      try (Load quick = load(system, submitter, "quick-", "record").start(12);
          Load slow = load(system, submitter, "slow-", "sleep 300").start(8);
          Load failing = load(system, submitter, "failing-", "fail 1").start(4);
          Load overrunning = load(system, hasty, "overrunning-", "overrun 7000 5").start(6);
          Load forPullers = load(system, pulled, PULLED, "sleep 300").start(12);
          pulls;
          changing) {
        pulls.start(PULLERS);
        changing.start(10);
        awaitMore(records());
        long end = System.nanoTime() + length.toNanos();
        while (System.nanoTime() < end || faults.size() < FIRST) {
          disturb(system, random, chronicle);
        }
        submits =
            quick.sent() + slow.sent() + failing.sent() + overrunning.sent() + forPullers.sent();
        assertThat(submits).isPositive();
      }
      system.bulk().awaitEnd();
      submitter.adopt(hasty);
      system.awaitWhole();
      Waiting.until("all is drained", DRAIN, () -> submitter.drained(system.schedulers().get(0)));
      Waiting.until("all that was changed is drained", DRAIN, () -> changing.drained(scheduler));
      Waiting.until(
          "all that is pulled is drained", DRAIN, () -> pulled.drained(system.schedulers().get(0)));
      Waiting.until("all that was moved is drained", DRAIN, () -> system.bulk().drained(scheduler));
      account(system);
      account("pulled jobs", pulled.history(), PULLED);
      account("jobs that were moved together", system.bulk().history(), BulkMoves.PREFIX);
      account(changing, pulls, submits);
      audit.judge(length);
    } finally {
      chronicle.write(new ExecutionLog(record).executions());
    }
  }

  private static Load load(ChaosSystem system, Submitter submitter, String prefix, String what) {
    return new Load(
        submitter,
        system.submitAddresses(),
        prefix,
        what,
        RETRY,
        Duration.ofMillis(200),
        Duration.ofSeconds(4));
  }

  /** Breaks something, at times two things at once, and waits until jobs run again. */
  private void disturb(ChaosSystem system, Random random, Chronicle chronicle) throws IOException {
    List<Disorder> disorders = draw(random);
    for (Fault fault : happen(system, random, disorders)) {
      faults.add(fault);
      chronicle.add(fault);
    }
    long repaired = System.nanoTime();
    awaitMore(records());
    Duration recovery = Duration.ofNanos(System.nanoTime() - repaired);
    if (recovery.compareTo(worstRecovery) > 0) {
      worstRecovery = recovery;
      worst = disorders.toString();
    }
    if (faults.size() % 10 == 0) {
      // One that hangs would be noticed by nobody while the others do its work.
      system.awaitWhole();
    }
    // Sometimes the next thing breaks before this is whole again, sometimes after.
    ChaosSystem.pass(random, 0, 4);
  }

  private List<Disorder> draw(Random random) {
    Disorder one = any(random);
    Disorder other = any(random);
    boolean both = random.nextInt(TWO_AT_ONCE) == 0 && one.goesWith(other);
    List<Disorder> drawn = both ? List.of(one, other) : List.of(one);
    drawn.forEach(disorder -> counts.merge(disorder, 1, Integer::sum));
    return drawn;
  }

  private static Disorder any(Random random) {
    return DISORDERS.get(random.nextInt(DISORDERS.size()));
  }

  private static List<Fault> happen(ChaosSystem system, Random random, List<Disorder> disorders) {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<CompletableFuture<Fault>> begun = new ArrayList<>();
      for (Disorder disorder : disorders) {
        Random own = new Random(random.nextLong());
        begun.add(CompletableFuture.supplyAsync(() -> disorder.happen(system, own), threads));
      }
      return begun.stream().map(CompletableFuture::join).toList();
    }
  }

  private long records() throws IOException {
    return Files.exists(record) ? Files.size(record) : 0;
  }

  private void awaitMore(long before) {
    // Some jobs' worth, so that it is not the end of what ran before.
    Waiting.until("jobs run", RECOVERY, () -> records() > before + 2_000);
  }

  private void account(ChaosSystem system) throws IOException {
    List<Execution> executions =
        executions(/* changed= */ false).stream()
            .filter(run -> !run.taskId().startsWith(PULLED))
            .filter(run -> !run.taskId().startsWith(BulkMoves.PREFIX))
            .toList();
    History history = submitter.history();
    Accounting accounting = Accounting.of(history, executions, faults);
    JsonNode queue = submitter.queue(system.schedulers().get(0));
    Map<String, Integer> underWay = Accounting.underWay(history, executions, faults);
    Attempts attempts =
        new Attempts(
            executions,
            queue.get("counters"),
            system.redeliveries(),
            accounting,
            underWay.getOrDefault(Disorder.REDIS_FAILS_OVER.toString(), 0));
    System.out.printf(
        "chaos: %s%nchaos: %d faults: %s%nchaos: worst recovery %d ms, after %s; %s%nchaos: counters"
            + " %s%nchaos: %s; under way at the faults %s%n",
        accounting,
        faults.size(),
        counts,
        worstRecovery.toMillis(),
        worst,
        lateness(executions),
        queue.get("counters"),
        attempts,
        underWay);
    assertThat(accounting.sound())
        .as("%s%n%s", accounting, accounting.evidence(executions))
        .isTrue();
    assertThat(accounting.accepted()).isPositive();
    attempts.judge(counts.keySet().stream().allMatch(Disorder::sparesSchedulers));
    long overran = executions.stream().filter(history::overran).count();
    assertThat((long) attempts.further()).isLessThanOrEqualTo(mostInFlight() + overran);
    assertThat(attempts.timeOver()).isPositive();
    assertThat(queue.get("dead").intValue()).isZero();
  }

  private void account(String what, History history, String prefix) throws IOException {
    List<Execution> executions =
        executions(/* changed= */ false).stream()
            .filter(run -> run.taskId().startsWith(prefix))
            .toList();
    Accounting accounting = Accounting.of(history, executions, faults);
    System.out.printf("chaos: %s: %s%n", what, accounting);
    assertThat(accounting.sound())
        .as("%s: %s%n%s", what, accounting, accounting.evidence(executions))
        .isTrue();
  }

  /** Adds up what became of the jobs that were changed. */
  private void account(ChangingLoad changing, Pulls pulls, int otherSubmits) throws IOException {
    List<Execution> executions = executions(/* changed= */ true);
    int pushed = executions.size();
    executions.addAll(pulls.executions());
    List<Fault> causes = new ArrayList<>(faults);
    causes.addAll(pulls.lostAnswers());
    Accounting accounting = Accounting.of(changing.history(), executions, causes);
    int submits = otherSubmits + changing.submits();
    int changes = changing.calls() - changing.submits();
    System.out.printf(
        "chaos: changed jobs: %s%nchaos: %d submits, %d changes, acknowledged %s; runs pushed %d,"
            + " pulled %d (answers lost %d)%n",
        accounting,
        submits,
        changes,
        changing.acknowledged(),
        pushed,
        pulls.executions().size(),
        pulls.lostAnswers().size());
    assertThat(accounting.sound())
        .as(
            "%s%n%s%s",
            accounting, accounting.evidence(executions), changing.evidence(accounting.wrong()))
        .isTrue();
    assertThat(changing.surprises()).isEmpty();
    assertThat(changing.acknowledged()).containsKeys(Change.Kind.values());
    assertThat(changes).as("changes, beside %d submits", submits).isGreaterThan(submits * 4 / 5);
    assertThat(pulls.executions()).isNotEmpty();
  }

  private List<Execution> executions(boolean changed) throws IOException {
    return new ArrayList<>(
        new ExecutionLog(record)
            .executions().stream().filter(run -> run.version() > 0 == changed).toList());
  }

  /** No more can have been in flight at the faults than all workers take, from each scheduler. */
  private long mostInFlight() {
    return faults.stream().filter(fault -> fault.effect() != Fault.Effect.NONE).count()
        * SCHEDULERS
        * WORKERS
        * CONCURRENCY;
  }

  private String lateness(List<Execution> executions) {
    Map<String, Long> due = submitter.history().attempted();
    Map<String, Long> first = new HashMap<>();
    executions.forEach(run -> first.merge(run.taskId(), run.begin(), Math::min));
    long[] late =
        first.entrySet().stream()
            .filter(entry -> due.containsKey(entry.getKey()))
            .mapToLong(entry -> entry.getValue() / 1000 - due.getOrDefault(entry.getKey(), 0L))
            .sorted()
            .toArray();
    return "lateness p50 %d, p99 %d, worst %d ms"
        .formatted(late[late.length / 2], late[late.length * 99 / 100], late[late.length - 1]);
  }
}
