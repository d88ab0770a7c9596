package io.punctual.client.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.observation.Observation;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import io.punctual.LeaseLostException;
import io.punctual.RejectTaskException;
import io.punctual.TaskContext;
import io.punctual.TaskWorker;
import io.punctual.client.lease.JobLease;
import io.punctual.internal.JobListeners;
import io.punctual.internal.TaskWorkers;
import io.punctual.spring.observation.MicrometerAttemptObservations;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** How many jobs run at once, and what becomes of those that do not. */
@ExtendWith(OutputCaptureExtension.class)
class JobRunnerTest {

  private final CountDownLatch go = new CountDownLatch(1);
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicInteger cancelled = new AtomicInteger();
  private final AtomicInteger quick = new AtomicInteger();
  private final List<String> ran = new CopyOnWriteArrayList<>();
  private final Map<String, CompletableFuture<String>> futures = new ConcurrentHashMap<>();
  private final Map<String, TaskContext> contexts = new ConcurrentHashMap<>();
  private final Map<String, Observation> seen = new ConcurrentHashMap<>();
  private final TestObservationRegistry observations = TestObservationRegistry.create();
  private final JobRunner runner =
      new JobRunner(
          new TaskWorkers(
              Map.of(
                  "narrow",
                  new Waiting("narrow"),
                  "wide",
                  new Waiting("wide"),
                  "later",
                  new Later(),
                  "quick",
                  new Quick(),
                  "stubborn",
                  new Stubborn(),
                  "broken",
                  new Waiting("broken"))),
          new JobListeners(List.of()),
          new MicrometerAttemptObservations(observations, null),
          "push",
          10,
          type -> {
            if (type.equals("broken")) {
              throw new IllegalStateException("no number");
            }
            return type.equals("wide") || type.equals("quick") ? 10 : 2;
          });

  @AfterEach
  void end() {
    go.countDown();
    runner.close();
  }

  @Test
  void aTypeHasNoMoreJobsAtOnceThanItsOwnNumber() throws Exception {
    CompletableFuture<CallbackResult> first = run("narrow", "1", 60_000);
    CompletableFuture<CallbackResult> second = run("narrow", "2", 60_000);
    Awaitility.await().until(() -> running.get() == 2);
    CompletableFuture<CallbackResult> third = run("narrow", "3", 60_000);
    CallbackResult hasty = run("narrow", "hasty", 200).get(10, TimeUnit.SECONDS);

    // It waited a part of its time, and goes back at no attempt.
    assertThat(hasty.outcome()).isEqualTo(CallbackResult.REFUSED);
    assertThat(hasty.error()).contains("runs 2 jobs of narrow at once");
    assertThat(running.get()).isEqualTo(2);
    CompletableFuture<CallbackResult> other = run("wide", "4", 60_000);
    Awaitility.await().until(() -> running.get() == 3);
    go.countDown();

    for (CompletableFuture<CallbackResult> job : List.of(first, second, third, other)) {
      assertThat(job.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.DONE);
    }
  }

  @Test
  void anInstanceThatIsFullGivesAJobBackInTimeAndNeverRunsItLater() throws Exception {
    List<CompletableFuture<CallbackResult>> ten = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      ten.add(run("wide", "full-" + i, 60_000));
    }
    Awaitility.await().until(() -> running.get() == 10);
    CompletableFuture<CallbackResult> patient = run("wide", "patient", 60_000);
    CallbackResult wide = run("wide", "hasty", 200).get(10, TimeUnit.SECONDS);
    CallbackResult narrow = run("narrow", "hasty", 200).get(10, TimeUnit.SECONDS);

    assertThat(wide.outcome()).isEqualTo(CallbackResult.REFUSED);
    assertThat(wide.error()).isEqualTo("this instance runs 10 jobs at once, and has them");
    assertThat(narrow.outcome()).isEqualTo(CallbackResult.REFUSED);
    go.countDown();
    for (CompletableFuture<CallbackResult> job : ten) {
      assertThat(job.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.DONE);
    }
    assertThat(patient.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.DONE);
    assertThat(runner.drain(Duration.ofSeconds(20))).isTrue();
    assertThat(ran).doesNotContain("hasty").contains("patient");
  }

  @Test
  void aJobThatCannotBeStartedIsGivenBackEachTime() throws Exception {
    for (int delivery = 0; delivery < 2; delivery++) {
      CallbackResult result = run("broken", "1", 60_000).get(10, TimeUnit.SECONDS);

      assertThat(result.outcome()).isEqualTo(CallbackResult.REFUSED);
      assertThat(result.error()).contains("could not start the job", "no number");
    }
    assertThat(running).hasValue(0);
    assertThat(runner.drain(Duration.ofSeconds(20))).isTrue();
  }

  @Test
  void noJobBeginsAfterADrainThatSawNoneRunning() throws Exception {
    for (int round = 0; round < 200; round++) {
      runner.open();
      String id = "round-" + round;
      CompletableFuture<CallbackResult> sender =
          CompletableFuture.completedFuture(id).thenComposeAsync(job -> run("quick", job, 60_000));
      boolean quiet = runner.drain(Duration.ofSeconds(20));
      int before = quick.get();

      CallbackResult result = sender.get(10, TimeUnit.SECONDS);
      assertThat(quiet).isTrue();
      if (result.outcome().equals(CallbackResult.DONE)) {
        assertThat(quick).hasValue(before);
      }
    }
  }

  @Test
  void whatWaitsForAPlaceIsGivenBackWhenTheInstanceLeaves() throws Exception {
    CompletableFuture<CallbackResult> first = run("narrow", "1", 60_000);
    CompletableFuture<CallbackResult> second = run("narrow", "2", 60_000);
    Awaitility.await().until(() -> running.get() == 2);
    CompletableFuture<CallbackResult> third = run("narrow", "3", 60_000);
    CompletableFuture<Boolean> drained =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return runner.drain(Duration.ofSeconds(20));
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    // At once, not when a place is free or its patience is over.
    assertThat(third.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.REFUSED);
    assertThat(third.join().error()).contains("shutting down");
    go.countDown();

    assertThat(drained.get(20, TimeUnit.SECONDS)).isTrue();
    assertThat(first.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.DONE);
    assertThat(second.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.DONE);
  }

  @Test
  void theEndOfTheProcessCancelsWhatRuns() {
    var unused = run("wide", "1", 60_000);
    Awaitility.await().until(() -> running.get() == 1);

    runner.close();

    Awaitility.await().until(() -> cancelled.get() == 1);
  }

  @Test
  void aFutureKeepsItsPlaceUntilItIsComplete(CapturedOutput output) throws Exception {
    CompletableFuture<CallbackResult> first = run("later", "1", 60_000);
    CompletableFuture<CallbackResult> second = run("later", "2", 60_000);
    Awaitility.await().until(() -> futures.size() == 2);
    CallbackResult hasty = run("later", "hasty", 200).get(10, TimeUnit.SECONDS);
    CompletableFuture<CallbackResult> third = run("later", "3", 60_000);

    assertThat(hasty.outcome()).isEqualTo(CallbackResult.REFUSED);
    future("1").complete("");
    assertThat(first.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.DONE);
    Awaitility.await().until(() -> futures.containsKey("3"));
    future("2").completeExceptionally(new RejectTaskException("no such order"));
    future("3").completeExceptionally(new IllegalStateException("broken"));

    assertThat(second.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.REJECT);
    assertThat(third.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.RETRY);
    assertThat(third.join().error()).isEqualTo("java.lang.IllegalStateException: broken");
    assertThat(output)
        .contains(
            "Job 2 of later was rejected at attempt 1 and becomes a dead letter. Correct its params"
                + " or the worker, then requeue it. Reason: io.punctual.RejectTaskException: no such"
                + " order");
  }

  @Test
  void aFutureIsCancelledWhenItsTimeIsOver() throws Exception {
    CallbackResult result = run("later", "1", 100).get(10, TimeUnit.SECONDS);

    assertThat(result.outcome()).isEqualTo(CallbackResult.RETRY);
    assertThat(result.error()).isEqualTo("cancelled: its time-to-run of 100 ms was over");
    assertThat(future("1")).isCancelled();
    assertThat(cancelled).hasValue(1);
  }

  @Test
  void anInstanceThatLeavesWaitsForFutures() throws Exception {
    CompletableFuture<CallbackResult> job = run("later", "1", 60_000);
    Awaitility.await().until(() -> futures.containsKey("1"));

    assertThat(runner.drain(Duration.ofMillis(100))).isFalse();
    future("1").complete("");

    assertThat(runner.drain(Duration.ofSeconds(20))).isTrue();
    assertThat(job.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.DONE);
  }

  @Test
  void theEndOfTheProcessCancelsFutures() {
    var unused = run("later", "1", 60_000);
    Awaitility.await().until(() -> futures.containsKey("1"));

    runner.close();

    Awaitility.await().until(() -> future("1").isCancelled());
  }

  @Test
  void moreTimeIsAskedOfTheLeaseAndThenGiven() throws Exception {
    Lease lease = new Lease();
    CompletableFuture<CallbackResult> job = run("later", "1", 5_000, 1, lease);
    Awaitility.await().until(() -> contexts.containsKey("1"));

    context("1").extend(Duration.ofMinutes(1));
    // One that asked for nothing is over, and this one, which began before, is not.
    assertThat(run("later", "2", 5_000).get(20, TimeUnit.SECONDS).error()).contains("was over");
    assertThat(job).isNotDone();
    future("1").complete("");

    assertThat(job.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.DONE);
    assertThat(lease.asked).containsExactly(Duration.ofMinutes(1));
    assertThatThrownBy(() -> context("1").extend(Duration.ofMinutes(1)))
        .isInstanceOf(LeaseLostException.class)
        .hasMessageContaining("has ended");
  }

  @Test
  void aJobWhoseLeaseIsLostIsCancelled() throws Exception {
    Lease lease = new Lease();
    CompletableFuture<CallbackResult> job = run("later", "1", 60_000, 1, lease);
    Awaitility.await().until(() -> contexts.containsKey("1"));

    lease.whenLost.run();

    assertThat(job.get(10, TimeUnit.SECONDS).error())
        .isEqualTo("cancelled: the job is not this attempt's any more");
    assertThat(context("1").isCancelled()).isTrue();
  }

  @Test
  void aJobThatIsDeliveredAgainWhileItRunsGoesOnByTheNewerLease() throws Exception {
    Lease older = new Lease();
    Lease newer = new Lease();
    CompletableFuture<CallbackResult> first = run("later", "1", 60_000, 1, older);
    Awaitility.await().until(() -> contexts.containsKey("1"));
    context("1").extend(Duration.ofMinutes(10));
    CompletableFuture<CallbackResult> second = run("later", "1", 60_000, 2, newer);

    // The watch of whoever delivered it again knows nothing of what was asked for.
    assertThat(newer.reminded).hasSize(1);
    assertThat(newer.reminded.get(0)).isBetween(Duration.ofMinutes(9), Duration.ofMinutes(10));
    older.whenLost.run();
    context("1").extend(Duration.ofMinutes(20));
    assertThat(older.asked).containsExactly(Duration.ofMinutes(10));
    assertThat(newer.asked).containsExactly(Duration.ofMinutes(20));
    assertThat(first).isNotDone();
    future("1").complete("");

    assertThat(first.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.DONE);
    assertThat(second.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.DONE);
  }

  @Test
  void aJobThatIsDeliveredAgainWhileItRunsHasTheTimeOfTheNewerDelivery() throws Exception {
    Lease older = new Lease();
    Lease newer = new Lease();
    CompletableFuture<CallbackResult> first = run("later", "1", 1_000, 1, older);
    Awaitility.await().until(() -> futures.containsKey("1"));
    CompletableFuture<CallbackResult> second = run("later", "1", 60_000, 2, newer);

    // One that began later with the time of the first is over.
    assertThat(run("later", "2", 1_000).get(20, TimeUnit.SECONDS).error()).contains("was over");
    assertThat(future("1")).isNotDone();
    future("1").complete("");
    assertThat(second.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.DONE);
    assertThat(first.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.DONE);
    assertThat(older.over.get() + newer.over.get()).isZero();
  }

  @Test
  void theInterruptOfAnEarlierAttemptUsesUpNoLaterOne() throws Exception {
    Lease older = new Lease();
    Lease newer = new Lease();
    CompletableFuture<CallbackResult> first = run("stubborn", "1", 300, 1, older);
    Awaitility.await().until(() -> cancelled.get() == 1);
    CompletableFuture<CallbackResult> second = run("stubborn", "1", 60_000, 2, newer);
    assertThat(second).isNotDone();
    go.countDown();

    assertThat(first.get(10, TimeUnit.SECONDS).error())
        .isEqualTo("interrupted: its time-to-run of 300 ms was over");
    assertThat(second.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.DONE);
    assertThat(ran).containsExactly("1", "1");
    assertThat(older.over).hasValue(1);
    assertThat(newer.over).hasValue(0);
  }

  @Test
  void theLostLeaseOfAnEarlierAttemptUsesUpNoLaterOne() throws Exception {
    Lease older = new Lease();
    CompletableFuture<CallbackResult> first = run("stubborn", "1", 60_000, 1, older);
    Awaitility.await().until(() -> ran.contains("1"));
    older.whenLost.run();
    CompletableFuture<CallbackResult> second = run("stubborn", "1", 60_000, 2, new Lease());
    assertThat(second).isNotDone();
    Awaitility.await().until(() -> cancelled.get() == 1);
    go.countDown();

    assertThat(first.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.RETRY);
    assertThat(second.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.DONE);
  }

  @Test
  void aJobThatWaitedTooLongForTheEndOfAnEarlierAttemptIsGivenBack() throws Exception {
    Lease newer = new Lease();
    var unused = run("stubborn", "1", 100);
    Awaitility.await().until(() -> cancelled.get() == 1);
    CompletableFuture<CallbackResult> second = run("stubborn", "1", 200, 2, newer);
    Awaitility.await().until(() -> newer.over.get() == 1);
    go.countDown();

    assertThat(second.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.REFUSED);
    assertThat(ran).containsExactly("1");
  }

  @Test
  void aJobThatIsLeftToSomebodyElseTakesNoPlace() throws Exception {
    CompletableFuture<CallbackResult> first = run("later", "1", 60_000);
    CompletableFuture<CallbackResult> second = run("later", "2", 60_000);
    Awaitility.await().until(() -> contexts.size() == 2);
    assertThat(context("1").defer(Duration.ofHours(1))).isEqualTo("handle");
    assertThat(context("2").defer(Duration.ofHours(1))).isEqualTo("handle");
    future("1").complete("");
    // What it throws behind that decides all the same.
    future("2").completeExceptionally(new RejectTaskException("after all"));

    CallbackResult deferred = first.get(10, TimeUnit.SECONDS);
    assertThat(deferred.outcome()).isEqualTo(CallbackResult.DEFERRED);
    assertThat(Objects.requireNonNull(deferred.timeToRunMs())).isBetween(3_500_000L, 3_600_000L);
    assertThat(second.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.REJECT);
    var unused = run("later", "3", 60_000);
    Awaitility.await().until(() -> contexts.containsKey("3"));
  }

  @Test
  void aJobThatFailedWhileItsWorkerHadNotReturnedYetIsAnAttemptAnew() throws Exception {
    CompletableFuture<CallbackResult> first = run("later", "1", 60_000);
    Awaitility.await().until(() -> contexts.containsKey("1"));
    TaskContext before = context("1");
    assertThat(before.defer(Duration.ofHours(1))).isEqualTo("handle");
    CompletableFuture<CallbackResult> second = run("later", "1", 60_000, 2, new Lease());
    Objects.requireNonNull(futures.remove("1")).complete("");

    assertThat(first.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.DEFERRED);
    Awaitility.await().until(() -> context("1") != before);
    assertThat(context("1").attempt()).isEqualTo(2);
    Awaitility.await().until(() -> futures.containsKey("1"));
    future("1").complete("");
    assertThat(second.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.DONE);
  }

  @Test
  void aFutureIsObservedUntilItIsComplete() throws Exception {
    CompletableFuture<CallbackResult> first = run("later", "1", 60_000);
    CompletableFuture<CallbackResult> second = run("later", "2", 60_000, 3, new Lease());
    Awaitility.await().until(() -> futures.size() == 2);
    assertThat(context("1").defer(Duration.ofHours(1))).isEqualTo("handle");
    future("1").complete("");
    future("2").completeExceptionally(new IllegalStateException("broken"));

    assertThat(first.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.DEFERRED);
    assertThat(second.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.RETRY);
    assertThat(seen.get("1")).isNotSameAs(seen.get("2"));
    TestObservationRegistryAssert.assertThat(observations)
        .hasNumberOfObservationsWithNameEqualTo("punctual.client.invoke", 2)
        .hasAnObservation(
            that ->
                that.doesNotHaveError()
                    .hasLowCardinalityKeyValue("outcome", "deferred")
                    .hasHighCardinalityKeyValue("messaging.message.id", "1"))
        .hasAnObservation(
            that ->
                that.hasError()
                    .hasLowCardinalityKeyValue("outcome", "failed")
                    .hasHighCardinalityKeyValue("messaging.message.id", "2")
                    .hasHighCardinalityKeyValue("punctual.attempt", "3"))
        .doesNotHaveAnyRemainingCurrentObservation();
  }

  private TaskContext context(String id) {
    return Objects.requireNonNull(contexts.get(id));
  }

  private CompletableFuture<String> future(String id) {
    return Objects.requireNonNull(futures.get(id));
  }

  @Test
  void aJobThatWasCancelledStopsAndGoesOnBeingTimed() throws Exception {
    Lease lease = new Lease();
    CompletableFuture<CallbackResult> byLease = run("narrow", "1", 60_000, 1, lease);
    CompletableFuture<CallbackResult> byHint = run("narrow", "2", 60_000);
    CompletableFuture<CallbackResult> other = run("wide", "2", 60_000);
    Awaitility.await().until(() -> running.get() == 3);

    lease.whenCancelled.run();
    runner.cancel("narrow", "2", "2");
    runner.cancel("narrow", "never", "never");
    for (CompletableFuture<CallbackResult> stopped : List.of(byLease, byHint)) {
      CallbackResult result = stopped.get(10, TimeUnit.SECONDS);
      assertThat(result.outcome()).isEqualTo(CallbackResult.RETRY);
      assertThat(result.error()).isEqualTo("cancelled: the job was cancelled");
    }
    assertThat(cancelled).hasValue(2);
    assertThat(other.isDone()).isFalse();

    // It hears nothing: the lease is told when its time is over.
    Lease deaf = new Lease();
    CompletableFuture<CallbackResult> stubborn = run("stubborn", "3", 300, 1, deaf);
    Awaitility.await().until(() -> ran.contains("3"));
    deaf.whenCancelled.run();
    Awaitility.await().until(() -> deaf.over.get() == 1);
    go.countDown();
    assertThat(stubborn.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.RETRY);
  }

  @Test
  void aJobThatWasCancelledBeforeItBeganStopsAtOnce() throws Exception {
    CompletableFuture<CallbackResult> first = run("narrow", "1", 60_000);
    CompletableFuture<CallbackResult> second = run("narrow", "2", 60_000);
    Awaitility.await().until(() -> running.get() == 2);
    CompletableFuture<CallbackResult> third = run("narrow", "3", 60_000);

    runner.cancel("narrow", "3", "3");
    runner.cancel("narrow", "1", "1");
    assertThat(third.get(10, TimeUnit.SECONDS).outcome()).isEqualTo(CallbackResult.RETRY);
    assertThat(first).isDone();
    assertThat(second).isNotDone();
  }

  @Test
  void aRetryIsLateSinceItsOwnDueTime() {
    long now = System.currentTimeMillis();
    // Due at first an hour ago; the one from a scheduler of an earlier release does not say more.
    for (Long lateSince : new Long[] {now, null}) {
      var unused =
          runner.run(
              new CallbackRequest.Job(
                  "" + lateSince,
                  "later",
                  "i",
                  2,
                  3,
                  now,
                  now - 3_600_000,
                  lateSince,
                  60_000,
                  "",
                  Map.of(),
                  null),
              new Lease());
    }
    Awaitility.await().until(() -> contexts.size() == 2);

    assertThat(context("" + now).lateness()).isLessThan(Duration.ofMinutes(1));
    assertThat(context("" + now).dueAt()).isEqualTo(Instant.ofEpochMilli(now - 3_600_000));
    assertThat(context("null").lateness()).isBetween(Duration.ofHours(1), Duration.ofMinutes(61));
  }

  private CompletableFuture<CallbackResult> run(String type, String id, long timeToRun) {
    return run(type, id, timeToRun, 1, new Lease());
  }

  private CompletableFuture<CallbackResult> run(
      String type, String id, long timeToRun, int attempt, JobLease lease) {
    return runner.run(
        new CallbackRequest.Job(
            id, type, id, attempt, 1 + attempt, attempt, 1, null, timeToRun, "", Map.of(), null),
        lease);
  }

  /** Remembers what it was asked. */
  private static final class Lease implements JobLease {

    final List<Duration> asked = new CopyOnWriteArrayList<>();
    final List<Duration> reminded = new CopyOnWriteArrayList<>();
    final AtomicInteger over = new AtomicInteger();
    volatile Runnable whenLost = () -> {};
    volatile Runnable whenCancelled = () -> {};

    @Override
    public void onCancelled(Runnable action) {
      whenCancelled = action;
    }

    @Override
    public void timeOver(Duration timeToRun) {
      over.incrementAndGet();
    }

    @Override
    public void extend(Duration timeToRun) {
      asked.add(timeToRun);
    }

    @Override
    public String defer(Duration within) {
      asked.add(within);
      return "handle";
    }

    @Override
    public void remind(Duration timeToRun) {
      reminded.add(timeToRun);
    }

    @Override
    public void onLost(Runnable action) {
      whenLost = action;
    }
  }

  /** Returns futures that the test completes. */
  private final class Later implements TaskWorker {

    @Override
    public String type() {
      return "later";
    }

    @Override
    public void invoke(String params) {
      throw new IllegalStateException("called without its attempt");
    }

    @Override
    public CompletionStage<?> invokeAsync(String params, TaskContext context) {
      context.onCancel(cancelled::incrementAndGet);
      seen.put(
          context.taskId(), Objects.requireNonNull(observations.getCurrentObservation(), "none"));
      contexts.put(context.taskId(), context);
      return futures.computeIfAbsent(context.taskId(), id -> new CompletableFuture<>());
    }
  }

  /** Runs until the test says go. */
  private final class Waiting implements TaskWorker {

    private final String type;

    Waiting(String type) {
      this.type = type;
    }

    @Override
    public String type() {
      return type;
    }

    @Override
    public void invoke(String params) {
      throw new IllegalStateException("called without its attempt");
    }

    @Override
    public void invoke(String params, TaskContext context) throws InterruptedException {
      context.onCancel(cancelled::incrementAndGet);
      running.incrementAndGet();
      ran.add(context.taskId());
      go.await();
    }
  }

  /** Ends when the test says go, with the interrupt that it got before. */
  private final class Stubborn implements TaskWorker {

    @Override
    public String type() {
      return "stubborn";
    }

    @Override
    public void invoke(String params) {
      throw new IllegalStateException("called without its attempt");
    }

    @Override
    public void invoke(String params, TaskContext context) throws InterruptedException {
      context.onCancel(cancelled::incrementAndGet);
      ran.add(context.taskId());
      InterruptedException interrupt = null;
      while (go.getCount() > 0) {
        try {
          go.await();
        } catch (InterruptedException e) {
          interrupt = e;
        }
      }
      if (interrupt != null) {
        throw interrupt;
      }
    }
  }

  /** Counts and ends. */
  private final class Quick implements TaskWorker {

    @Override
    public String type() {
      return "quick";
    }

    @Override
    public void invoke(String params) {
      quick.incrementAndGet();
    }
  }
}
