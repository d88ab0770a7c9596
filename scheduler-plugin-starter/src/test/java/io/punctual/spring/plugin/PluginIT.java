package io.punctual.spring.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import io.micrometer.tracing.test.simple.SimpleSpan;
import io.micrometer.tracing.test.simple.SimpleTracer;
import io.punctual.CancelResult;
import io.punctual.DeferralResult;
import io.punctual.DelayQueueJob;
import io.punctual.InvalidJobException;
import io.punctual.JobConflictException;
import io.punctual.JobInfo;
import io.punctual.LeaseLostException;
import io.punctual.PunctualException;
import io.punctual.RejectTaskException;
import io.punctual.RescheduleResult;
import io.punctual.RetryLaterException;
import io.punctual.RetryPolicy;
import io.punctual.SubmitResult;
import io.punctual.TagCancelResult;
import io.punctual.TaskContext;
import io.punctual.TaskSubmitService;
import io.punctual.TaskSubmitService.RestoreResult;
import io.punctual.TaskWorker;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.query.JobView;
import io.punctual.internal.AttemptToken;
import io.punctual.internal.WorkerSetupException;
import io.punctual.plugin.PluginRedis;
import io.punctual.spi.JobAttempt;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A whole application in plugin mode on a real Redis; its own connections are by Lettuce. */
@ExtendWith(OutputCaptureExtension.class)
class PluginIT extends PluginTestBase {

  private static final Duration DAY = Duration.ofDays(1);

  @Test
  void aJobIsDoneInThisProcessWhenItIsDue() {
    SubmitResult sent = service.send("script", "hello", Duration.ofMillis(200));
    assertThat(sent.outcome()).isEqualTo(SubmitResult.Outcome.CREATED);
    eventually().until(() -> script.calls.contains("hello"));
    eventually().until(() -> find(sent.taskId()).state() == JobState.FINISHED);
  }

  @Test
  void submitsAndAttemptsAreObserved() {
    script.on(
        "fail",
        () -> {
          throw new RejectTaskException("never");
        });
    service.job("script", "fail").id("seen").in(Duration.ZERO).send();

    eventually().until(() -> find("seen").state() == JobState.DEAD);
    TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class))
        .hasAnObservation(
            that ->
                that.hasNameEqualTo("punctual.client.submit")
                    .hasLowCardinalityKeyValue("outcome", "created")
                    .hasHighCardinalityKeyValue("messaging.message.id", "seen"))
        .hasAnObservation(
            that ->
                that.hasNameEqualTo("punctual.client.invoke")
                    .hasError()
                    .hasLowCardinalityKeyValue("delivery", "in-process")
                    .hasLowCardinalityKeyValue("outcome", "rejected")
                    .hasHighCardinalityKeyValue("messaging.message.id", "seen"));
    List<SimpleSpan> spans =
        context.getBean(SimpleTracer.class).getSpans().stream()
            .filter(span -> "seen".equals(span.getTags().get("messaging.message.id")))
            .toList();
    assertThat(spans)
        .extracting(SimpleSpan::getName)
        .containsExactly("send script", "process script");
    assertThat(spans.get(1).getParentId()).isEqualTo(spans.get(0).getSpanId());
  }

  @Test
  void listenersHearOfEveryAttemptAndDisturbNothing() {
    script.on(
        "fail",
        () -> {
          throw new IllegalStateException("not yet");
        });
    service.send(
        DelayQueueJob.of("script")
            .taskId("heard")
            .params("fail")
            .delay(Duration.ZERO)
            .retry(RetryPolicy.parse("0s;attempts=2"))
            .build());
    service.send("script", "fine", Duration.ZERO);

    Queue<JobAttempt> heard = context.getBean(Ear.class).heard;
    eventually().until(() -> heard.size() == 3);
    eventually().until(() -> find("heard").state() == JobState.DEAD);
    assertThat(heard.stream().filter(a -> a.taskId().equals("heard")))
        .extracting(JobAttempt::attempt)
        .containsExactly(1, 2);
    assertThat(heard)
        .allSatisfy(
            attempt -> {
              assertThat(attempt.taskType()).isEqualTo("script");
              assertThat(attempt.dueAt()).isBeforeOrEqualTo(attempt.startedAt().plusSeconds(1));
              assertThat(attempt.duration()).isPositive();
              assertThat(attempt.outcome() == JobAttempt.Outcome.DONE)
                  .isEqualTo(attempt.error() == null);
            });
  }

  @Test
  void eventsCancelJobsAndMakeThemDue() {
    service.job("script", "paid").id("unpaid").cancelOn("order.paid", "1").in(DAY).send();
    service.job("script", "verified").id("waits").runOn("kyc.done", "7").in(DAY).send();

    assertThat(service.event("order.paid", "1").items())
        .containsExactly(
            new TaskSubmitService.EventResult.Item(
                "script", "unpaid", TaskSubmitService.EventResult.Outcome.CANCELLED));
    assertThat(service.event("kyc.done", "7").items()).hasSize(1);
    eventually().until(() -> find("waits").state() == JobState.FINISHED);
    assertThat(script.calls).contains("verified").doesNotContain("paid");
    assertThat(service.job("script", "late").cancelOn("order.paid", "1").in(DAY).send().outcome())
        .isEqualTo(SubmitResult.Outcome.CANCELLED_BY_EVENT);
    assertThatThrownBy(() -> service.event("order paid", "1"))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("name must be");
  }

  @Test
  void aJobThatRunsIsInterruptedAndCancelled() {
    CountDownLatch began = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    AtomicLong stopped = new AtomicLong();
    script.on(
        "hold",
        () -> {
          began.countDown();
          try {
            never.await();
          } catch (InterruptedException e) {
            stopped.set(System.nanoTime());
            throw new IllegalStateException("stopped", e);
          }
        });
    service.job("script", "hold").id("held").retry(RetryPolicy.NEVER).in(Duration.ZERO).send();
    eventually().until(() -> began.getCount() == 0);

    assertThat(service.cancel("script", "held").outcome())
        .isEqualTo(CancelResult.Outcome.IN_DELIVERY);
    long asked = System.nanoTime();
    CancelResult told = service.cancel("script", "held", TaskSubmitService.Running.INTERRUPT);
    assertThat(told.outcome()).isEqualTo(CancelResult.Outcome.CANCELLING);
    assertThat(told.attempt()).isEqualTo(1);
    eventually().until(() -> find("held").state() == JobState.CANCELLED);
    assertThat(Duration.ofNanos(stopped.get() - asked)).isLessThan(Duration.ofSeconds(3));
    assertThat(service.cancel("script", "held").outcome())
        .isEqualTo(CancelResult.Outcome.CANCELLED);
  }

  @Test
  void aCancelIsUndone() {
    service.job("script", "as it was").id("undone").in(Duration.ofHours(1)).send();
    Instant due = service.find("script", "undone").orElseThrow().at();
    assertThat(service.restore("script", "undone").outcome())
        .isEqualTo(RestoreResult.Outcome.EXISTS);
    service.cancel("script", "undone");
    assertThat(service.find("script", "undone").orElseThrow().restorableUntil())
        .isBetween(Instant.now(), Instant.now().plus(Duration.ofMinutes(11)));

    RestoreResult restored = service.restore("script", "undone");
    assertThat(restored.restored()).isTrue();
    assertThat(restored.dueAt()).isEqualTo(due);
    assertThat(restored.version()).isEqualTo(3);
    JobInfo there = service.find("script", "undone").orElseThrow();
    assertThat(there.params()).isEqualTo("as it was");
    assertThat(there.restorableUntil()).isNull();
    assertThat(service.restore("script", "never").outcome())
        .isEqualTo(RestoreResult.Outcome.UNKNOWN);
    service.cancel("script", "undone");
  }

  @Test
  void aWorkerThatIsRegisteredLaterRunsItsJobs() {
    SubmitResult early = service.send("late", "x", Duration.ZERO);
    Queue<String> calls = new ConcurrentLinkedQueue<>();
    PluginTasks tasks = context.getBean(PluginTasks.class);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tasks.register("late", 5))
        .withMessageContaining("late");
    tasks.register(
        new TaskWorker() {
          @Override
          public String type() {
            return "late";
          }

          @Override
          public void invoke(String params) {
            calls.add(params);
          }
        });
    eventually().until(() -> calls.contains("x"));
    eventually()
        .until(
            () ->
                engine.find(new QueueName("shop", "late"), early.taskId()).orElseThrow().state()
                    == JobState.FINISHED);
    assertThatThrownBy(() -> tasks.register(script)).isInstanceOf(WorkerSetupException.class);
  }

  @Test
  void threadsAndScanIntervalsChangeWhileItRuns() {
    PluginTasks tasks = context.getBean(PluginTasks.class);
    assertThat(tasks.threads("script")).isEqualTo(4);
    assertThat(tasks.threads("other")).isEqualTo(2);
    assertThat(tasks.scanInterval("other")).isEqualTo(Duration.ofSeconds(1));
    tasks.setThreads("script", 1);
    tasks.register("script", 3);
    assertThat(tasks.scanInterval("script")).isEqualTo(Duration.ofSeconds(3));
    CountDownLatch go = new CountDownLatch(1);
    AtomicInteger running = new AtomicInteger();
    script.on(
        "hold",
        () -> {
          running.incrementAndGet();
          Awaitility.await().until(() -> go.getCount() == 0);
        });
    for (int i = 0; i < 3; i++) {
      service.send("script", "hold", Duration.ZERO);
    }
    eventually().until(() -> running.get() == 1);
    eventually()
        .until(() -> engine.stats(new QueueName("shop", "script")).orElseThrow().ready() == 2);
    tasks.setThreads("script", 3);
    eventually().until(() -> running.get() == 3);
    go.countDown();
    assertThatIllegalArgumentException().isThrownBy(() -> tasks.setThreads("script", 0));
    assertThatIllegalArgumentException().isThrownBy(() -> tasks.setThreads(10_001));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tasks.register("script", Duration.ofMinutes(2)));
  }

  /** Its calls stand in docs/plugin.md. */
  @Test
  void workersAreAddedAndChangedAsThePageShows() {
    PluginTasks tasks = context.getBean(PluginTasks.class);
    Queue<String> calls = new ConcurrentLinkedQueue<>();
    TaskWorker worker =
        new TaskWorker() {
          @Override
          public String type() {
            return "order.remind";
          }

          @Override
          public void invoke(String params) {
            calls.add(params);
          }
        };

    tasks.register(worker); // a TaskWorker that is no bean
    tasks.register("order.remind", 5); // its scan interval, in seconds
    tasks.setThreads("order.remind", 4);
    tasks.setThreads(8); // all types without a number

    service.send("order.remind", "x", Duration.ZERO);
    eventually().until(() -> calls.contains("x"));
    assertThat(tasks.scanInterval("order.remind")).isEqualTo(Duration.ofSeconds(5));
    assertThat(tasks.threads("order.remind")).isEqualTo(4);
    assertThat(tasks.threads("approve")).isEqualTo(8);
  }

  @Test
  void jobsAreFoundRunNowAndCancelledByTag() {
    service
        .job("script", Map.of("order", 4711))
        .id("typed")
        .in(Duration.ofHours(1))
        .tag("order:4711")
        .header("x", "y")
        .send();
    service.job("other", "b").id("b").in(Duration.ofHours(1)).tag("order:4711").send();
    service.job("script", "c").id("c").in(Duration.ofHours(1)).tag("order:4712").send();

    JobInfo found = service.find("script", "typed").orElseThrow();
    assertThat(found.state()).isEqualTo(JobInfo.State.DELAYED);
    assertThat(found.params()).isEqualTo("{\"order\":4711}");
    assertThat(found.tags()).containsExactly("order:4711");
    assertThat(found.headers()).containsEntry("x", "y");
    assertThat(service.find("script", "nobody")).isEmpty();

    assertThat(service.runNow("script", "c").outcome())
        .isEqualTo(RescheduleResult.Outcome.RESCHEDULED);
    eventually().until(() -> script.calls.contains("c"));
    TagCancelResult cancelled = service.cancelByTag("order:4711");
    assertThat(cancelled.items())
        .containsExactlyInAnyOrder(
            new TagCancelResult.Item("script", "typed", CancelResult.Outcome.CANCELLED),
            new TagCancelResult.Item("other", "b", CancelResult.Outcome.CANCELLED));
    assertThat(service.find("script", "typed").orElseThrow().state())
        .isEqualTo(JobInfo.State.CANCELLED);
    assertThat(service.cancelByTag("order:4711").items()).isEmpty();
  }

  @Test
  void anAnnotatedMethodGetsItsPayloadAttemptAndHeaders() {
    Closer closer = context.getBean(Closer.class);
    service
        .job("order.close", new CloseOrder(7))
        .id("typed")
        .in(Duration.ZERO)
        .header("by", "me")
        .retry(RetryPolicy.parse("0s;attempts=3"))
        .send();

    eventually().until(() -> closer.calls.size() == 2);
    assertThat(closer.calls).containsExactly("7 by me, attempt 1", "7 by me, attempt 2");
    eventually()
        .until(
            () ->
                service.find("order.close", "typed").orElseThrow().state()
                    == JobInfo.State.FINISHED);
  }

  @Test
  void paramsThatAreNoPayloadMakeADeadLetterWithTheReason() {
    service.job("order.close", "no JSON").id("bad").in(Duration.ZERO).send();

    eventually()
        .until(
            () -> service.find("order.close", "bad").orElseThrow().state() == JobInfo.State.DEAD);
    assertThat(service.find("order.close", "bad").orElseThrow().lastError())
        .contains("the params are no JSON of", "CloseOrder");
  }

  @Test
  void theSameJobAgainChangesNothingAndAnotherOneIsAConflict() {
    DelayQueueJob job = DelayQueueJob.of("script").taskId("a").delay(Duration.ofHours(1)).build();
    service.send(job);
    assertThat(service.send(job).outcome()).isEqualTo(SubmitResult.Outcome.ALREADY_THERE);
    DelayQueueJob other = DelayQueueJob.of("script").taskId("a").delay(Duration.ofHours(2)).build();
    assertThatThrownBy(() -> service.send(other))
        .isInstanceOfSatisfying(
            JobConflictException.class, e -> assertThat(e.fields()).containsExactly("delay"));

    var items =
        service.sendAll(
            List.of(job, other, DelayQueueJob.of("script").delay(Duration.ofHours(1)).build()));
    assertThat(items).extracting(item -> item.accepted()).containsExactly(true, false, true);

    assertThat(service.reschedule("script", "a", Duration.ZERO).outcome())
        .isEqualTo(RescheduleResult.Outcome.RESCHEDULED);
    eventually().until(() -> find("a").state() == JobState.FINISHED);
    assertThat(service.cancel("script", "a").outcome()).isEqualTo(CancelResult.Outcome.FINISHED);
  }

  @Test
  void whatTheWorkerThrowsDecidesHowItGoesOn(CapturedOutput output) {
    script.on(
        "reject",
        () -> {
          throw new RejectTaskException("no such order");
        });
    script.on(
        "later",
        () -> {
          throw new RetryLaterException(Duration.ofHours(1), "too busy");
        });
    script.on(
        "fail",
        () -> {
          throw new IllegalStateException("broken");
        });
    for (String id : List.of("reject", "later", "fail")) {
      service.send(
          DelayQueueJob.of("script")
              .taskId(id)
              .params(id)
              .delay(Duration.ZERO)
              .retry(RetryPolicy.parse("0s,0s"))
              .build());
    }
    eventually().until(() -> find("reject").state() == JobState.DEAD);
    assertThat(output)
        .contains("Job reject of ")
        .contains(
            "was rejected at attempt 1 and becomes a dead letter. Correct its params or the worker,"
                + " then requeue it. Reason: io.punctual.RejectTaskException: no such order");
    assertThat(error("reject").message())
        .isEqualTo("io.punctual.RejectTaskException: no such order");
    eventually().until(() -> find("fail").state() == JobState.DEAD);
    assertThat(find("fail").tries().failed()).isEqualTo(3);
    assertThat(error("fail").message()).isEqualTo("java.lang.IllegalStateException: broken");
    eventually().until(() -> find("later").tries().failed() == 1);
    assertThat(find("later").state()).isEqualTo(JobState.DELAYED);
    assertThat(error("later").message()).isEqualTo("io.punctual.RetryLaterException: too busy");
  }

  @Test
  void anAttemptBeyondItsTimeToRunIsInterruptedAndUnknown() throws Exception {
    CountDownLatch interrupted = new CountDownLatch(1);
    script.on(
        "slow",
        () -> {
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            interrupted.countDown();
            throw new IllegalStateException(e);
          }
        });
    service.send(
        DelayQueueJob.of("script")
            .taskId("slow")
            .params("slow")
            .delay(Duration.ZERO)
            .timeToRun(Duration.ofSeconds(1))
            .retry(RetryPolicy.NEVER)
            .build());
    eventually().until(() -> find("slow").state() == JobState.DEAD);
    assertThat(interrupted.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(find("slow").tries().unknown()).isEqualTo(1);
    assertThat(error("slow").message()).contains("time-to-run");
  }

  @Test
  void typesWithABacklogClaimNoMoreJobsTogetherThanTheInstanceMayRun() {
    Futures futures = context.getBean(Futures.class);
    CountDownLatch free = new CountDownLatch(1);
    script.on(
        "wait",
        () -> {
          try {
            free.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
    Instant due = Instant.now().plusMillis(500);
    List<DelayQueueJob> jobs = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      jobs.add(DelayQueueJob.of("script").taskId("s" + i).params("wait").dueAt(due).build());
      jobs.add(DelayQueueJob.of("future").taskId("f" + i).dueAt(due).build());
    }
    service.sendAll(jobs);
    try {
      eventually().until(() -> script.calls.size() + futures.begun.size() == 4);
      assertThat(
              jobs.stream()
                  .filter(
                      job ->
                          engine
                                  .find(new QueueName("shop", job.taskType()), job.taskId())
                                  .orElseThrow()
                                  .state()
                              == JobState.RESERVED))
          .hasSize(4);
    } finally {
      free.countDown();
      futures.completeAll();
    }
  }

  @Test
  void aJobThatHeedsNoInterruptUsesUpItsAttempts() {
    CountDownLatch free = new CountDownLatch(1);
    script.on(
        "deaf",
        () -> {
          boolean over = false;
          while (!over) {
            try {
              over = free.await(1, TimeUnit.MINUTES);
            } catch (InterruptedException e) {
              // As code that swallows it.
            }
          }
        });
    service.send(
        DelayQueueJob.of("script")
            .taskId("deaf")
            .params("deaf")
            .delay(Duration.ZERO)
            .timeToRun(Duration.ofSeconds(1))
            .retry(RetryPolicy.parse("0s;attempts=2"))
            .build());
    try {
      eventually().until(() -> find("deaf").state() == JobState.DEAD);
      assertThat(find("deaf").tries().unknown()).isEqualTo(2);
    } finally {
      free.countDown();
    }
  }

  @Test
  void aFutureTakesItsPlaceUntilItIsCompleteAndItsEndDecides() {
    Futures futures = context.getBean(Futures.class);
    List.of("a", "b", "c", "d", "e")
        .forEach(
            id ->
                service
                    .job("future", null)
                    .id(id)
                    .in(Duration.ZERO)
                    .retry(RetryPolicy.NEVER)
                    .send());
    eventually().until(() -> futures.begun.size() == 4);
    List<String> first = List.copyOf(futures.begun.keySet());

    futures.complete(first.get(0));
    eventually().until(() -> futures.begun.size() == 5);
    futures.fail(first.get(1), new RejectTaskException("no such order"));
    futures.fail(first.get(2), new IllegalStateException("broken"));
    eventually().until(() -> future(first.get(2)).state() == JobState.DEAD);
    eventually().until(() -> future(first.get(1)).state() == JobState.DEAD);
    assertThat(future(first.get(0)).state()).isEqualTo(JobState.FINISHED);
    assertThat(Objects.requireNonNull(future(first.get(1)).lastFailure()).message())
        .isEqualTo("io.punctual.RejectTaskException: no such order");
    assertThat(Objects.requireNonNull(future(first.get(2)).lastFailure()).message())
        .isEqualTo("java.lang.IllegalStateException: broken");
    futures.begun.keySet().forEach(futures::complete);
    eventually().until(() -> future("e").state() == JobState.FINISHED);
    TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class))
        .hasAnObservation(
            that ->
                that.hasLowCardinalityKeyValue("outcome", "done")
                    .hasHighCardinalityKeyValue("messaging.message.id", "e"))
        .hasAnObservation(
            that ->
                that.hasLowCardinalityKeyValue("outcome", "failed")
                    .hasHighCardinalityKeyValue("messaging.message.id", first.get(2))
                    .hasError());
  }

  @Test
  void aFutureBeyondItsTimeToRunIsCancelledAndUnknown() {
    Futures futures = context.getBean(Futures.class);
    service
        .job("future", null)
        .id("slow")
        .in(Duration.ZERO)
        .timeToRun(Duration.ofSeconds(1))
        .retry(RetryPolicy.NEVER)
        .send();

    eventually().until(() -> future("slow").state() == JobState.DEAD);
    eventually().until(() -> Objects.requireNonNull(futures.begun.get("slow")).isCancelled());
    assertThat(future("slow").tries().unknown()).isEqualTo(1);
    assertThat(Objects.requireNonNull(future("slow").lastFailure()).message())
        .contains("time-to-run");
  }

  @Test
  void aJobThatAsksForMoreTimeHasIt() {
    Futures futures = context.getBean(Futures.class);
    for (String id : List.of("more", "other")) {
      service
          .job("future", null)
          .id(id)
          .in(Duration.ZERO)
          .timeToRun(Duration.ofSeconds(1))
          .retry(RetryPolicy.NEVER)
          .send();
    }
    eventually().until(() -> futures.contexts.size() == 2);
    TaskContext asking = Objects.requireNonNull(futures.contexts.get("more"));
    Instant before = asking.deadline();

    asking.extend(Duration.ofMinutes(1));
    assertThat(asking.deadline()).isAfter(before.plusSeconds(50));
    eventually().until(() -> future("other").state() == JobState.DEAD);
    assertThat(asking.isCancelled()).isFalse();
    futures.complete("more");

    eventually().until(() -> future("more").state() == JobState.FINISHED);
    assertThatThrownBy(
            () ->
                Objects.requireNonNull(futures.contexts.get("other")).extend(Duration.ofMinutes(1)))
        .isInstanceOf(LeaseLostException.class)
        .hasMessageContaining("was over");
  }

  @Test
  void aJobThatSomebodyElseEndedIsCancelledAndGetsNoMoreTime() {
    Futures futures = context.getBean(Futures.class);
    List.of("asks", "waits")
        .forEach(id -> service.job("future", null).id(id).in(Duration.ZERO).send());
    eventually().until(() -> futures.contexts.size() == 2);

    // As where Redis came back without what it knew.
    try (RedisConnection connection =
        context.getBean(RedisConnectionFactory.class).getConnection()) {
      Set<byte[]> leases =
          connection.keyCommands().keys((prefix + ":*:leases").getBytes(StandardCharsets.UTF_8));
      assertThat(connection.keyCommands().del(leases.toArray(new byte[0][]))).isEqualTo(1);
    }

    assertThatThrownBy(
            () ->
                Objects.requireNonNull(futures.contexts.get("asks")).extend(Duration.ofMinutes(1)))
        .isInstanceOf(LeaseLostException.class)
        .hasMessageContaining("job asks of future is not this attempt's any more");
    eventually().until(() -> Objects.requireNonNull(futures.begun.get("asks")).isCancelled());
    eventually().until(() -> Objects.requireNonNull(futures.begun.get("waits")).isCancelled());
  }

  @Test
  void aJobThatIsLeftToSomebodyElseTakesNoPlaceAndIsEndedFromAnywhere() {
    Approvals approvals = context.getBean(Approvals.class);
    for (int i = 0; i < 6; i++) {
      service.job("approve", null).id("a" + i).in(Duration.ZERO).send();
    }
    // There are four places.
    eventually().until(() -> approvals.handles.size() == 6);
    eventually()
        .until(
            () ->
                context.getBean(Ear.class).heard.stream()
                        .filter(attempt -> attempt.outcome() == JobAttempt.Outcome.DEFERRED)
                        .count()
                    == 6);
    context.close();
    startApplication();

    assertThat(approval("a0").state()).isEqualTo(JobState.RESERVED);
    assertThat(service.finish(approvals.handle("a0")).outcome())
        .isEqualTo(DeferralResult.Outcome.DONE);
    assertThat(service.finish(approvals.handle("a0")).outcome())
        .isEqualTo(DeferralResult.Outcome.ALREADY_DONE);
    assertThat(service.fail(approvals.handle("a1"), "not yet", Duration.ofHours(1)).outcome())
        .isEqualTo(DeferralResult.Outcome.RETRY);
    assertThat(approval("a1").state()).isEqualTo(JobState.DELAYED);
    assertThat(service.reject(approvals.handle("a2"), "declined").outcome())
        .isEqualTo(DeferralResult.Outcome.DEAD);
    assertThat(Objects.requireNonNull(approval("a2").lastFailure()).message())
        .isEqualTo("declined");
    DeferralResult more = service.extend(approvals.handle("a3"), Duration.ofDays(20));
    assertThat(more.outcome()).isEqualTo(DeferralResult.Outcome.EXTENDED);
    assertThat(more.at()).isAfter(Instant.now().plus(Duration.ofDays(19)));
    assertThat(service.extend(approvals.handle("a2"), Duration.ofDays(1)).outcome())
        .isEqualTo(DeferralResult.Outcome.LEASE_LOST);
    assertThatThrownBy(() -> service.extend(approvals.handle("a3"), Duration.ofDays(31)))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("within must be between");
    assertThatThrownBy(
            () -> service.finish(new AttemptToken("bank", "approve", "a3", "abc", "lease").text()))
        .isInstanceOf(PunctualException.class)
        .hasMessageContaining("of the application bank");
    assertThat(context.getBean(Approvals.class).handles).isEmpty();
  }

  @Test
  void aStopWaitsForFutures() throws Exception {
    Futures futures = context.getBean(Futures.class);
    service.job("future", null).id("kept").in(Duration.ZERO).send();
    eventually().until(() -> futures.begun.containsKey("kept"));
    Thread stop = new Thread(context::close);
    stop.start();
    eventually().until(() -> stop.getState() == Thread.State.TIMED_WAITING);
    futures.complete("kept");
    stop.join(20_000);
    assertThat(stop.isAlive()).isFalse();

    startApplication();
    assertThat(future("kept").state()).isEqualTo(JobState.FINISHED);
  }

  @Test
  void noMoreJobsOfATypeRunAtOnceThanAllowed() {
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch four = new CountDownLatch(4);
    for (int i = 0; i < 40; i++) {
      script.on(
          "n" + i,
          () -> {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            four.countDown();
            try {
              assertThat(four.await(20, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            } finally {
              running.decrementAndGet();
            }
          });
      service.send("script", "n" + i, Duration.ZERO);
    }
    eventually().until(() -> script.calls.size() == 40 && running.get() == 0);
    assertThat(most).hasValue(4);
  }

  @Test
  void jobsOfAllTypesTogetherStayWithinTheConcurrencyOfTheInstance() {
    Futures futures = context.getBean(Futures.class);
    for (String id : List.of("a", "b", "c", "d")) {
      service.job("future", null).id(id).in(Duration.ZERO).send();
    }
    eventually().until(() -> futures.begun.size() == 4);
    service.send("script", "waits", Duration.ZERO);
    eventually()
        .until(() -> engine.stats(new QueueName("shop", "script")).orElseThrow().ready() == 1);
    assertThat(script.calls).doesNotContain("waits");

    futures.complete("a");
    eventually().until(() -> script.calls.contains("waits"));
    futures.begun.keySet().forEach(futures::complete);
  }

  @Test
  void jobsOfATypeThatNobodyHereHasAreLeftAlone() {
    DelayQueueJob job = DelayQueueJob.of("elsewhere").taskId("x").delay(Duration.ZERO).build();
    service.send(job);
    service.send("script", "after", Duration.ofMillis(100));
    eventually().until(() -> script.calls.contains("after"));
    JobView view = engine.find(new QueueName("shop", "elsewhere"), "x").orElseThrow();
    assertThat(view.state()).isEqualTo(JobState.DELAYED);
  }

  @Test
  void aStopLetsRunningJobsFinishAndAnotherInstanceGoesOn() throws Exception {
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    script.on(
        "running",
        () -> {
          started.countDown();
          try {
            assertThat(go.await(20, TimeUnit.SECONDS)).isTrue();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
    service.send(
        DelayQueueJob.of("script").taskId("r").params("running").delay(Duration.ZERO).build());
    assertThat(started.await(20, TimeUnit.SECONDS)).isTrue();
    engine.operations().pause(QUEUE, true);
    service.send("script", "next", Duration.ZERO);
    Thread stop = new Thread(context::close);
    stop.start();
    eventually().until(() -> stop.getState() == Thread.State.TIMED_WAITING);
    go.countDown();
    stop.join(20_000);
    assertThat(stop.isAlive()).isFalse();

    startApplication();
    assertThat(find("r").state()).isEqualTo(JobState.FINISHED);
    engine.operations().pause(QUEUE, false);
    eventually().until(() -> script.calls.contains("next"));
    assertThat(script.calls).doesNotContain("running");
  }

  @Test
  void theApplicationKeepsItsOwnConnectionsAndTheStoreHasItsOwn() {
    assertThat(context.getBean(RedisConnectionFactory.class))
        .isInstanceOf(LettuceConnectionFactory.class);
    assertThat(context.getBean(PluginRedis.class).connections())
        .isInstanceOf(JedisConnectionFactory.class);
  }

  @Test
  void itWorksAgainAfterTheContextWasStoppedAndStarted() {
    context.stop();
    context.start();
    service.send("script", "again", Duration.ZERO);
    eventually().until(() -> script.calls.contains("again"));
  }
}
