package io.punctual.systemtest;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.FaultyLink.Side;
import io.punctual.systemtest.FaultyLink.Trap;
import io.punctual.systemtest.Puller.Pulled;
import io.punctual.systemtest.Puller.Run;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One end of the victim, at the same point of all scripts: each call is held at that point until
 * all are there.
 *
 * <p>The survivor stands still meanwhile, so that it is the victim that makes the calls.
 */
final class CrashRound {

  /** What jobs are changed to. */
  static final String CHANGED = "changed";

  private static final String RETRY = "200ms;attempts=100";
  private static final Duration LEASE = Duration.ofSeconds(2);
  private static final long PATIENCE_S = 60;

  private final CrashSystem system;
  private final int number;
  private final CrashPoint point;
  private final boolean kills;
  private final long began = System.currentTimeMillis();
  private final Map<CrashCase, Pulled> taken = new ConcurrentHashMap<>();
  private final Map<CrashCase, Run> runs = new ConcurrentHashMap<>();
  private final Redeliveries lastCounted;

  /**
   * A round.
   *
   * @param kills whether the victim is killed and started again; else it stands still for longer
   *     than a lease, and goes on
   */
  CrashRound(CrashSystem system, int number, CrashPoint point, boolean kills) {
    this.system = system;
    this.number = number;
    this.point = point;
    this.kills = kills;
    this.lastCounted = new Redeliveries(system.application());
  }

  void happen() throws Exception {
    system.awaitWhole();
    final Map<CrashCase, JsonNode> before = counters();
    final Map<String, Integer> metricBefore = redeliveries(false);
    final int furtherBefore = system.account().furtherUnasked();
    for (CrashCase each : CrashCase.values()) {
      each.prepare(this);
      if (each.givesUp()) {
        system.gaveUp(id(each));
      }
    }
    survivor().suspend();
    Map<CrashCase, Trap> traps = new EnumMap<>(CrashCase.class);
    Map<CrashCase, Future<?>> calls = new EnumMap<>(CrashCase.class);
    try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      try {
        for (boolean last : new boolean[] {false, true}) {
          for (CrashCase each : CrashCase.values()) {
            if (each.actsLast() == last) {
              traps.put(each, trap(each));
              calls.put(each, callers.submit(() -> actIfAnswered(each)));
            }
          }
          await(traps);
        }
        system.add(Fault.of(toString(), () -> end(traps, calls)));
      } finally {
        traps.values().forEach(Trap::cut);
        survivor().resume();
        if (!kills) {
          victim().resume();
        }
      }
    }
    for (CrashCase each : CrashCase.values()) {
      each.afterwards(this);
    }
    awaitDrained(Stream.of(CrashCase.values()).toList());
    judge(before, metricBefore, furtherBefore);
  }

  private Trap trap(CrashCase each) throws IOException {
    List<String> marks = new ArrayList<>(each.marks(this));
    marks.add(mark(system.scripts().hash(each.script())));
    Side side = point == CrashPoint.BEFORE ? Side.REQUEST : Side.ANSWER;
    return system.link().trap(side, marks, each.answerMark(this));
  }

  private void actIfAnswered(CrashCase each) {
    try {
      each.act(this);
    } catch (IOException e) {
      // The victim met its end first.
      return;
    }
  }

  private static void await(Map<CrashCase, Trap> traps) {
    try {
      Waiting.until("all are there", () -> traps.values().stream().allMatch(Trap::sprung));
    } catch (ConditionTimeoutException e) {
      throw new IllegalStateException(
          traps.entrySet().stream()
                  .filter(trap -> !trap.getValue().sprung())
                  .map(Map.Entry::getKey)
                  .toList()
              + " did not call",
          e);
    }
  }

  /** The end itself, and what the survivor makes of it, until the victim is back. */
  private void end(Map<CrashCase, Trap> traps, Map<CrashCase, Future<?>> calls) {
    long from = System.nanoTime();
    if (kills) {
      lastCounted.add(victim());
    }
    if (point == CrashPoint.BEHIND) {
      traps.values().forEach(Trap::letGo);
    }
    if (kills) {
      victim().kill();
      traps.values().forEach(Trap::cut);
    } else {
      victim().suspend();
    }
    survivor().resume();
    try {
      for (CrashCase each : CrashCase.values()) {
        each.again(this);
      }
      awaitDrained(
          Stream.of(CrashCase.values()).filter(each -> !each.waitsForTheVictim()).toList());
      if (kills) {
        victim().start();
      } else {
        assertThat(Duration.ofNanos(System.nanoTime() - from)).isGreaterThan(LEASE);
        final Map<CrashCase, JsonNode> counted = counters();
        // What was on its way to Redis arrives late, and so does what was on its way back.
        traps.values().forEach(Trap::letGo);
        victim().resume();
        for (Future<?> call : calls.values()) {
          call.get(PATIENCE_S, TimeUnit.SECONDS);
        }
        assertThat(counters()).as("nothing counts that comes late").isEqualTo(counted);
      }
      system.awaitWhole();
    } catch (IOException | ExecutionException | TimeoutException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Fetches and does what is left for those who fetch, until all has ended. */
  private void awaitDrained(List<CrashCase> cases) {
    List<String> fetched =
        cases.stream().filter(each -> !each.isPushed()).map(CrashCase::type).toList();
    Waiting.until(
        "all has ended that can",
        () -> {
          for (Pulled job : puller().pull(survivor(), fetched, "30s")) {
            work(job, survivor());
          }
          for (CrashCase each : cases) {
            if (!submitter(each).drained(survivor())) {
              return false;
            }
          }
          return true;
        });
  }

  /** Does a job that was fetched, and says so. */
  void work(Pulled job, JavaProcess told) throws IOException {
    assertThat(job.params().equals(CHANGED))
        .as(job.toString())
        .isEqualTo(job.taskId().equals(id(CrashCase.CHANGE)));
    Run run = puller().begin(job);
    puller().end(run, Execution.Ending.DONE);
    assertThat(puller().tell(told, job, "ack", "").status()).isEqualTo(200);
  }

  private void judge(
      Map<CrashCase, JsonNode> before, Map<String, Integer> metricBefore, int furtherBefore)
      throws IOException {
    Map<CrashCase, JsonNode> after = counters();
    int expired = 0;
    int failed = 0;
    for (CrashCase each : CrashCase.values()) {
      assertThat(submitter(each).find(survivor(), id(each)).path("state").asString(""))
          .as("the state of %s after %s", each, this)
          .isEqualTo(each.state());
      int ran = more(each, "expired", before, after);
      assertThat(ran)
          .as("leases of %s that ran out, %s", each, this)
          .isBetween(each.expired(point).atLeast(), each.expired(point).atMost());
      int said = more(each, "failed", before, after);
      assertThat(said)
          .as("failures of %s, %s", each, this)
          .isBetween(each.failed(point).atLeast(), each.failed(point).atMost());
      assertThat(more(each, "unknown", before, after)).as("%s, %s", each, this).isZero();
      expired += ran;
      failed += said;
    }
    judgeMetric(metricBefore, expired, failed);

    Accounting accounting = system.account();
    System.out.printf("%s: leases that ran out %d; all so far: %s%n", this, expired, accounting);
    assertThat(accounting.sound()).as(accounting.toString()).isTrue();
    assertThat(accounting.unknown()).isZero();
    assertThat(accounting.furtherUnasked() - furtherBefore).isLessThanOrEqualTo(expired);
  }

  private void judgeMetric(Map<String, Integer> before, int expired, int failed) {
    // What a victim that is killed had no time to count: the leases of claim, pull and expire where
    // it took them back in its last moment, and the four failures that it may have written.
    int leastExpired = kills ? expired - 3 : expired;
    int leastFailed = kills ? failed - 4 : failed;
    Waiting.until(
        "what came late is counted",
        () ->
            counted(before).getOrDefault("lease_expired", 0) >= leastExpired
                && counted(before).getOrDefault("failed", 0) >= leastFailed);
    Map<String, Integer> counted = counted(before);
    assertThat(counted.getOrDefault("lease_expired", 0))
        .as("%s, %s", counted, this)
        .isLessThanOrEqualTo(expired);
    assertThat(counted.getOrDefault("failed", 0))
        .as("%s, %s", counted, this)
        .isLessThanOrEqualTo(failed);
    counted.keySet().removeAll(List.of("lease_expired", "failed"));
    assertThat(counted.values()).as("%s, %s", counted, this).allMatch(jobs -> jobs == 0);
  }

  private Map<String, Integer> counted(Map<String, Integer> before) {
    Map<String, Integer> counted = redeliveries(true);
    counted.replaceAll((cause, jobs) -> jobs - before.getOrDefault(cause, 0));
    return counted;
  }

  private static int more(
      CrashCase each,
      String counter,
      Map<CrashCase, JsonNode> before,
      Map<CrashCase, JsonNode> now) {
    return counter(now.get(each), counter) - counter(before.get(each), counter);
  }

  private static int counter(@Nullable JsonNode counters, String name) {
    return counters == null ? 0 : counters.path(name).asInt(0);
  }

  private Map<CrashCase, JsonNode> counters() throws IOException {
    Map<CrashCase, JsonNode> counters = new EnumMap<>(CrashCase.class);
    for (CrashCase each : CrashCase.values()) {
      counters.put(each, submitter(each).queue(survivor()).path("counters"));
    }
    return counters;
  }

  /** What both have counted; of a victim that was killed, up to a moment before. */
  private Map<String, Integer> redeliveries(boolean over) {
    Redeliveries redeliveries = new Redeliveries(application());
    redeliveries.add(survivor());
    if (!over || !kills) {
      redeliveries.add(victim());
    }
    Map<String, Integer> all = new TreeMap<>(redeliveries.byCause());
    if (over) {
      lastCounted.byCause().forEach((cause, jobs) -> all.merge(cause, jobs, Integer::sum));
    }
    return all;
  }

  /** A text as it stands in a call of Redis. */
  static String mark(String text) {
    return "$" + text.length() + "\r\n" + text + "\r\n";
  }

  /** By what calls are known that are about the queue of a case. */
  String queueMark(CrashCase each) {
    return mark(key(each, "jobs"));
  }

  String key(CrashCase each, String suffix) {
    return "%1$s:{%1$s:%2$s:0}:%3$s".formatted(application(), each.type(), suffix);
  }

  String id(CrashCase each) {
    return each.type() + "-" + number;
  }

  void submit(CrashCase each, JavaProcess at, long delay) {
    submitter(each)
        .submitOne(at, id(each), each.work(this), System.currentTimeMillis() + delay, RETRY);
  }

  /** The same once more; answers whether it was acknowledged. */
  boolean submitAgain(CrashCase each, JavaProcess at) {
    Submitter submitter = submitter(each);
    return submitter.submitOne(at, id(each), each.work(this), submitter.dueOf(id(each)), RETRY);
  }

  /** Fetches its job. */
  void takeOnly(CrashCase each, JavaProcess at, String timeToRun) {
    List<Pulled> jobs = new ArrayList<>();
    Waiting.until(
        id(each) + " is fetched",
        () -> {
          jobs.addAll(puller().pull(at, List.of(each.type()), timeToRun));
          return !jobs.isEmpty();
        });
    taken.put(each, jobs.get(0));
  }

  /** Fetches its job and begins it. */
  void take(CrashCase each, JavaProcess at, String timeToRun) {
    takeOnly(each, at, timeToRun);
    runs.put(each, puller().begin(job(each)));
  }

  /** Makes a dead letter. */
  void bury(CrashCase each) throws IOException {
    submit(each, victim(), 0);
    take(each, victim(), "1m");
    puller().end(taken(each), Execution.Ending.FAILED);
    assertThat(tell(each, victim(), "reject", "")).isEqualTo(200);
  }

  Run taken(CrashCase each) {
    return Objects.requireNonNull(runs.get(each));
  }

  private Pulled job(CrashCase each) {
    return Objects.requireNonNull(taken.get(each));
  }

  /** Tells a scheduler about the job that was fetched; answers the status. */
  int tell(CrashCase each, JavaProcess at, String what, String body) throws IOException {
    return puller().tell(at, job(each), what, body).status();
  }

  String queue(CrashCase each, JavaProcess at) {
    return at.url() + "/api/v1/queues/" + application() + "/" + each.type();
  }

  String address(CrashCase each, JavaProcess at) {
    return at.url() + "/api/v1/jobs/" + application() + "/" + each.type() + "/" + id(each);
  }

  Path file(CrashCase each) {
    return system.directory().resolve(application() + "-" + id(each) + ".token").toAbsolutePath();
  }

  JavaProcess victim() {
    return system.victim();
  }

  JavaProcess survivor() {
    return system.survivor();
  }

  Puller puller() {
    return system.puller();
  }

  Submitter submitter(CrashCase each) {
    return system.submitter(each);
  }

  String application() {
    return system.application();
  }

  int redis() {
    return system.redis();
  }

  int number() {
    return number;
  }

  CrashPoint point() {
    return point;
  }

  boolean kills() {
    return kills;
  }

  /** When the round began, epoch ms. */
  long began() {
    return began;
  }

  @Override
  public String toString() {
    return "a scheduler %s %s its scripts".formatted(kills ? "is killed" : "stands still", point);
  }
}
