package io.punctual.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.CancelResult;
import io.punctual.DeferralResult;
import io.punctual.DelayQueueJob;
import io.punctual.InvalidJobException;
import io.punctual.JobConflictException;
import io.punctual.JobInfo;
import io.punctual.RejectTaskException;
import io.punctual.RescheduleResult;
import io.punctual.RetryLaterException;
import io.punctual.RetryPolicy;
import io.punctual.SubmitResult;
import io.punctual.TaskContext;
import io.punctual.TaskSubmitService;
import io.punctual.TaskSubmitService.RestoreResult;
import io.punctual.TaskWorker;
import io.punctual.spi.JobAttempt;
import io.punctual.wire.Limits;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TestSchedulerTest {

  private static final String TYPE = "order.close";
  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");

  private final TestScheduler scheduler = TestScheduler.builder().startingAt(START).build();
  private final TaskSubmitService tasks = scheduler.taskSubmitService();
  private final List<String> ran = new ArrayList<>();

  private static DelayQueueJob.Builder job(String id, Duration delay) {
    return DelayQueueJob.of(TYPE).taskId(id).params("params of " + id).delay(delay);
  }

  @Test
  void submitsOfOneIdAreGatheredAndWhatMeetsTheJobRunningRunsAfterIt() {
    scheduler.register(
        TYPE,
        params -> {
          ran.add(params);
          if (params.equals("2")) {
            assertThat(debounced("3").outcome()).isEqualTo(SubmitResult.Outcome.MERGED);
          }
        });
    assertThat(debounced("1").outcome()).isEqualTo(SubmitResult.Outcome.CREATED);
    scheduler.advance(Duration.ofSeconds(4));
    assertThat(debounced("2").dueAt()).isEqualTo(START.plusSeconds(9));
    scheduler.advance(Duration.ofSeconds(5));
    assertThat(ran).containsExactly("2");
    scheduler.advance(Duration.ofSeconds(5));
    assertThat(ran).containsExactly("2", "3");
  }

  private SubmitResult debounced(String params) {
    return tasks
        .job(TYPE, params)
        .id("key")
        .debounce(Duration.ofSeconds(5), Duration.ofMinutes(1))
        .send();
  }

  @Test
  void aJobIsReplacedIfAskedFor() {
    tasks.job(TYPE, "1").id("a").in(Duration.ofHours(1)).send();

    assertThat(tasks.job(TYPE, "2").id("a").in(Duration.ofHours(2)).replace().send().outcome())
        .isEqualTo(SubmitResult.Outcome.REPLACED);
    assertThat(tasks.find(TYPE, "a").map(JobInfo::params)).contains("2");
  }

  @Test
  void aJobRunsWhenItIsDueAndNotBefore() {
    scheduler.register(TYPE, ran::add);
    tasks.send(job("1", Duration.ofMinutes(30)).build());

    assertThat(scheduler.advance(Duration.ofMillis(30 * 60_000 - 1))).isEmpty();
    assertThat(ran).isEmpty();

    List<Attempt> attempts = scheduler.advance(Duration.ofMillis(1));
    assertThat(ran).containsExactly("params of 1");
    assertThat(attempts).isEqualTo(scheduler.attempts());
    assertThat(attempts.get(0))
        .isEqualTo(
            new Attempt(
                TYPE,
                "1",
                1,
                "params of 1",
                START.plusSeconds(1800),
                START.plusSeconds(1800),
                START.plusSeconds(1800),
                Attempt.Outcome.DONE,
                null));
    assertThat(scheduler.jobs()).isEmpty();
  }

  @Test
  void aFutureIsWaitedForAndItsEndIsThatOfTheAttempt() {
    scheduler.register(
        later(
            context ->
                CompletableFuture.runAsync(
                    () -> {
                      ran.add("attempt " + context.attempt() + " at " + scheduler.now());
                      if (context.attempt() == 1) {
                        throw new RetryLaterException(Duration.ofMinutes(2), "not yet");
                      }
                    })));
    tasks.send(job("1", Duration.ZERO).build());

    assertThat(scheduler.advance(Duration.ofHours(1)))
        .extracting(Attempt::outcome)
        .containsExactly(Attempt.Outcome.RETRY_LATER, Attempt.Outcome.DONE);
    assertThat(ran)
        .containsExactly("attempt 1 at " + START, "attempt 2 at " + START.plusSeconds(120));
  }

  @Test
  void aFutureThatNobodyCompletesIsCancelledWhenItsTimeIsOverByARealClock() {
    List<CompletableFuture<String>> futures = new ArrayList<>();
    scheduler.register(
        later(
            context -> {
              CompletableFuture<String> future = new CompletableFuture<>();
              futures.add(future);
              return future;
            }));
    tasks.send(
        job("1", Duration.ZERO).timeToRun(Duration.ofSeconds(1)).retry(RetryPolicy.NEVER).build());

    List<Attempt> attempts = scheduler.runDue();

    assertThat(attempts).hasSize(1);
    assertThat(attempts.get(0).outcome()).isEqualTo(Attempt.Outcome.UNKNOWN);
    assertThat(attempts.get(0).error()).hasMessageContaining("was not completed within PT1S");
    assertThat(futures.get(0)).isCancelled();
    assertThat(scheduler.deadLetters()).hasSize(1);
  }

  @Test
  void paymentOrThirtyMinutesIsOneJob() {
    tasks.send(job("1", Duration.ofMinutes(30)).cancelOn("order.paid", "1").build());
    tasks.send(job("2", Duration.ofMinutes(30)).runOn("kyc.done", "2").build());
    scheduler.register(later(context -> CompletableFuture.completedFuture(null)));

    assertThat(tasks.event("order.paid", "1").items())
        .extracting(TaskSubmitService.EventResult.Item::outcome)
        .containsExactly(TaskSubmitService.EventResult.Outcome.CANCELLED);
    assertThat(tasks.event("kyc.done", "2").items())
        .extracting(TaskSubmitService.EventResult.Item::outcome)
        .containsExactly(TaskSubmitService.EventResult.Outcome.DUE);
    assertThat(scheduler.runDue()).extracting(Attempt::taskId).containsExactly("2");

    scheduler.advance(Duration.ofMinutes(9));
    assertThat(
            tasks.send(job("3", Duration.ofDays(1)).cancelOn("order.paid", "1").build()).outcome())
        .isEqualTo(SubmitResult.Outcome.CANCELLED_BY_EVENT);
    scheduler.advance(Duration.ofMinutes(1));
    assertThat(
            tasks.send(job("4", Duration.ofDays(1)).cancelOn("order.paid", "1").build()).outcome())
        .isEqualTo(SubmitResult.Outcome.CREATED);
  }

  @Test
  void aJobThatIsCancelledWhileItRunsIsGoneUnlessItsWorkerFinishes() {
    List<Boolean> seen = new ArrayList<>();
    scheduler.register(
        later(
            context -> {
              CancelResult told =
                  tasks.cancel(TYPE, context.taskId(), TaskSubmitService.Running.INTERRUPT);
              assertThat(told.outcome()).isEqualTo(CancelResult.Outcome.CANCELLING);
              seen.add(context.isCancelled());
              return context.taskId().equals("stops")
                  ? CompletableFuture.failedFuture(new IllegalStateException("it stopped"))
                  : CompletableFuture.completedFuture(null);
            }));
    tasks.send(job("stops", Duration.ZERO).build());
    tasks.send(job("ends", Duration.ZERO).build());

    assertThat(scheduler.runDue())
        .extracting(Attempt::outcome)
        .containsExactlyInAnyOrder(Attempt.Outcome.CANCELLED, Attempt.Outcome.DONE);
    assertThat(seen).containsExactly(true, true);
    assertThat(scheduler.advance(Duration.ofDays(1))).isEmpty();
    assertThat(tasks.cancel(TYPE, "stops").outcome()).isEqualTo(CancelResult.Outcome.UNKNOWN);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void aJobThatIsLeftToSomebodyElseIsEndedByItsHandleOrComesAgain() {
    List<String> handles = new ArrayList<>();
    scheduler.register(
        later(
            context -> {
              handles.add(context.defer(Duration.ofHours(2)));
              return CompletableFuture.completedFuture(null);
            }));
    tasks.send(job("1", Duration.ZERO).build());

    assertThat(scheduler.runDue())
        .extracting(Attempt::outcome)
        .containsExactly(Attempt.Outcome.DEFERRED);
    assertThat(scheduler.advance(Duration.ofMinutes(90))).isEmpty();
    assertThat(tasks.extend(handles.get(0), Duration.ofHours(3)))
        .isEqualTo(
            new DeferralResult(
                DeferralResult.Outcome.EXTENDED, START.plus(Duration.ofMinutes(270))));
    assertThat(scheduler.advance(Duration.ofMinutes(179))).isEmpty();

    assertThat(scheduler.advance(Duration.ofMinutes(2)))
        .extracting(Attempt::number)
        .containsExactly(2);
    assertThat(tasks.fail(handles.get(0), "too late").outcome())
        .isEqualTo(DeferralResult.Outcome.LEASE_LOST);
    assertThat(tasks.fail(handles.get(1), "not yet", Duration.ofHours(1)).outcome())
        .isEqualTo(DeferralResult.Outcome.RETRY);
    assertThat(scheduler.find(TYPE, "1").orElseThrow().failures().get(0)).contains("not yet");
    assertThat(scheduler.advance(Duration.ofHours(1)))
        .extracting(Attempt::number)
        .containsExactly(3);

    // The first one comes with the news that it was done after all.
    assertThat(tasks.finish(handles.get(0)).outcome()).isEqualTo(DeferralResult.Outcome.DONE);
    assertThat(tasks.finish(handles.get(2)).outcome())
        .isEqualTo(DeferralResult.Outcome.ALREADY_DONE);
    assertThat(scheduler.advance(Duration.ofDays(1))).isEmpty();
    assertThat(tasks.finish(handles.get(0)).outcome()).isEqualTo(DeferralResult.Outcome.UNKNOWN);
    assertThatThrownBy(() -> tasks.finish("nonsense")).isInstanceOf(InvalidJobException.class);
  }

  private static TaskWorker later(Function<TaskContext, CompletionStage<?>> work) {
    return new TaskWorker() {
      @Override
      public String type() {
        return TYPE;
      }

      @Override
      public void invoke(String params) {
        throw new IllegalStateException("called without its attempt");
      }

      @Override
      public CompletionStage<?> invokeAsync(String params, TaskContext context) {
        return work.apply(context);
      }
    };
  }

  @Test
  void jobsRunInTheOrderOfTheirDueTimesEachAtItsOwn() {
    scheduler.register(TYPE, params -> ran.add(params + " at " + scheduler.now()));
    scheduler.register("mail", params -> ran.add("mail at " + scheduler.now()));
    tasks.send(job("late", Duration.ofHours(2)).build());
    tasks.send(job("early", Duration.ofMinutes(1)).build());
    tasks.send(DelayQueueJob.of("mail").delay(Duration.ofHours(1)).build());

    scheduler.advance(Duration.ofDays(1));

    assertThat(ran)
        .containsExactly(
            "params of early at 2026-03-01T12:01:00Z",
            "mail at 2026-03-01T13:00:00Z",
            "params of late at 2026-03-01T14:00:00Z");
    assertThat(scheduler.now()).isEqualTo(START.plus(Duration.ofDays(1)));
  }

  @Test
  void whatIsDueInTheSameMillisecondRunsByTypeAndId() {
    scheduler.register("b", params -> ran.add("b" + params));
    scheduler.register("a", params -> ran.add("a" + params));
    for (String id : List.of("3", "1", "2")) {
      tasks.send(DelayQueueJob.of("b").taskId(id).params(id).delay(Duration.ZERO).build());
      tasks.send(DelayQueueJob.of("a").taskId(id).params(id).delay(Duration.ZERO).build());
    }

    scheduler.runDue();

    assertThat(ran).containsExactly("a1", "a2", "a3", "b1", "b2", "b3");
  }

  @Test
  void theWholeLadderIsWalkedAndEndsInADeadLetter() {
    scheduler.register(
        TYPE,
        params -> {
          throw new IllegalStateException("the bank is closed");
        });
    tasks.send(job("1", Duration.ZERO).retry(RetryPolicy.NOTIFY).build());

    List<Attempt> attempts = scheduler.advance(Duration.ofDays(2));

    assertThat(attempts).allMatch(attempt -> attempt.lateness().isZero());
    assertThat(attempts.stream().map(attempt -> Duration.between(attempt.dueAt(), attempt.at())))
        .containsExactly(
            Duration.ZERO,
            Duration.ZERO,
            Duration.ZERO,
            Duration.ofMinutes(2),
            Duration.ofMinutes(12),
            Duration.ofMinutes(22),
            Duration.ofMinutes(82),
            Duration.ofMinutes(202),
            Duration.ofMinutes(562),
            Duration.ofMinutes(1462));
    assertThat(attempts.stream().map(Attempt::number))
        .containsExactlyElementsOf(IntStream.rangeClosed(1, 10).boxed().toList());
    assertThat(scheduler.deadLetters()).isEqualTo(scheduler.jobs(TYPE)).hasSize(1);
    StoredJob dead = scheduler.deadLetters().get(0);
    assertThat(dead.attempts()).isEqualTo(10);
    assertThat(dead.at()).isEqualTo(START.plus(Duration.ofMinutes(1462)));
    assertThat(dead.failures().get(0))
        .isEqualTo("failed: java.lang.IllegalStateException: the bank is closed");
  }

  @Test
  void jitterIsTheSameEachTime() {
    scheduler.register(
        TYPE,
        params -> {
          throw new IllegalStateException("no");
        });
    tasks.send(job("1", Duration.ZERO).build());
    List<Attempt> first = scheduler.advance(Duration.ofDays(1));
    assertThat(first).hasSize(RetryPolicy.DEFAULT.maxAttempts());

    scheduler.reset();
    scheduler.register(
        TYPE,
        params -> {
          throw new IllegalStateException("no");
        });
    tasks.send(job("1", Duration.ZERO).build());
    List<Attempt> second = scheduler.advance(Duration.ofDays(1));

    assertThat(second.stream().map(Attempt::at))
        .isEqualTo(first.stream().map(Attempt::at).toList());
  }

  @Test
  void whatAWorkerThrowsDecides() {
    scheduler.register(
        TYPE,
        params -> {
          switch (params) {
            case "params of reject" -> throw new RejectTaskException("never");
            case "params of later" -> throw new RetryLaterException(Duration.ofHours(3), "later");
            default -> throw new Error("fails");
          }
        });
    tasks.send(job("reject", Duration.ZERO).build());
    tasks.send(job("later", Duration.ZERO).build());
    tasks.send(job("fail", Duration.ZERO).retry(RetryPolicy.parse("1m")).build());

    scheduler.runDue();

    assertThat(scheduler.attempts().stream().map(Attempt::outcome))
        .containsExactly(
            Attempt.Outcome.FAILED, Attempt.Outcome.RETRY_LATER, Attempt.Outcome.REJECTED);
    assertThat(scheduler.find(TYPE, "reject").orElseThrow().state())
        .isEqualTo(StoredJob.State.DEAD);
    assertThat(scheduler.find(TYPE, "later").orElseThrow().at())
        .isEqualTo(START.plus(Duration.ofHours(3)));
    assertThat(scheduler.find(TYPE, "fail").orElseThrow().at()).isEqualTo(START.plusSeconds(60));
  }

  @Test
  void aDeadLetterGetsANewLife() {
    scheduler.register(
        TYPE,
        params -> {
          throw new RejectTaskException("never");
        });
    tasks.send(job("1", Duration.ZERO).build());
    scheduler.runDue();

    assertThat(scheduler.requeue(TYPE, "1")).isTrue();
    assertThat(scheduler.requeue(TYPE, "2")).isFalse();
    assertThat(scheduler.runDue()).hasSize(1);
    assertThat(scheduler.attempts(TYPE)).hasSize(2);
  }

  @Test
  void whatWorkersSubmitRunsOnTheWay() {
    scheduler.register(
        TYPE,
        params -> {
          ran.add(params + " at " + scheduler.now());
          if (ran.size() < 3) {
            tasks.send(TYPE, "next", Duration.ofHours(1));
          }
        });
    tasks.send(TYPE, "first", Duration.ZERO);

    scheduler.advance(Duration.ofHours(2));

    assertThat(ran)
        .containsExactly(
            "first at 2026-03-01T12:00:00Z",
            "next at 2026-03-01T13:00:00Z",
            "next at 2026-03-01T14:00:00Z");
  }

  @Test
  void anEndlessLoopIsEndedWithWhatItWas() {
    TestScheduler small = TestScheduler.builder().maxAttempts(50).build();
    small.register(TYPE, params -> small.taskSubmitService().send(TYPE, "again", Duration.ZERO));
    small.taskSubmitService().send(TYPE, "first", Duration.ZERO);

    assertThatThrownBy(() -> small.advance(Duration.ofSeconds(1)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("advance(PT1S) has run 50 attempts and there is no end")
        .hasMessageContaining("of order.close is due")
        .hasMessageContaining("maxAttempts");
    assertThat(small.attempts()).hasSize(50);
    assertThat(small.jobs(TYPE)).hasSize(1);
  }

  @Test
  void jobsWithoutAWorkerWait() {
    tasks.send(job("1", Duration.ofMinutes(1)).build());
    assertThat(scheduler.advance(Duration.ofDays(1))).isEmpty();
    assertThat(scheduler.jobs(TYPE)).hasSize(1);

    scheduler.register(TYPE, ran::add);
    assertThat(scheduler.runDue().get(0).lateness()).isEqualTo(Duration.ofDays(1).minusMinutes(1));
  }

  @Test
  void submitsAnswerAsTheRealOnesDo() {
    DelayQueueJob job = job("1", Duration.ofMinutes(1)).build();
    assertThat(tasks.send(job).outcome()).isEqualTo(SubmitResult.Outcome.CREATED);
    assertThat(tasks.send(job).outcome()).isEqualTo(SubmitResult.Outcome.ALREADY_THERE);
    assertThatThrownBy(() -> tasks.send(job("1", Duration.ofMinutes(1)).params("other").build()))
        .isInstanceOf(JobConflictException.class)
        .hasMessageContaining("params");
    assertThat(tasks.reschedule(TYPE, "1", Duration.ofHours(1)).outcome())
        .isEqualTo(RescheduleResult.Outcome.RESCHEDULED);
    assertThat(tasks.cancel(TYPE, "1").outcome()).isEqualTo(CancelResult.Outcome.CANCELLED);
    assertThat(tasks.cancel(TYPE, "none").outcome()).isEqualTo(CancelResult.Outcome.UNKNOWN);
    Instant until = tasks.find(TYPE, "1").orElseThrow().restorableUntil();
    assertThat(until).isEqualTo(scheduler.now().plus(Duration.ofMinutes(10)));
    RestoreResult restored = tasks.restore(TYPE, "1");
    assertThat(restored.restored()).isTrue();
    assertThat(restored.dueAt()).isEqualTo(scheduler.now().plus(Duration.ofHours(1)));
    assertThat(tasks.restore(TYPE, "none").outcome()).isEqualTo(RestoreResult.Outcome.UNKNOWN);
    tasks.cancel(TYPE, "1");

    scheduler.register(TYPE, ran::add);
    tasks.send(job);
    scheduler.advance(Duration.ofMinutes(1));
    assertThat(tasks.send(job).outcome()).isEqualTo(SubmitResult.Outcome.ALREADY_DONE);
    assertThat(tasks.sendAll(List.of(job, job("2", Duration.ZERO).build())))
        .allMatch(item -> item.accepted());
  }

  @Test
  void aWorkerSeesItsOwnJobInDelivery() {
    scheduler.register(
        TYPE,
        params -> {
          assertThat(tasks.cancel(TYPE, "1").outcome()).isEqualTo(CancelResult.Outcome.IN_DELIVERY);
          assertThat(scheduler.jobs(TYPE).get(0).state()).isEqualTo(StoredJob.State.IN_DELIVERY);
        });
    tasks.send(job("1", Duration.ZERO).build());

    assertThat(scheduler.runDue().get(0).outcome()).isEqualTo(Attempt.Outcome.DONE);
  }

  @Test
  void anAssertionOfAWorkerFailsTheTest() {
    scheduler.register(TYPE, params -> assertThat(params).isEqualTo("other"));
    tasks.send(job("1", Duration.ZERO).build());

    assertThatThrownBy(scheduler::runDue).isInstanceOf(AssertionError.class);
    assertThat(scheduler.attempts().get(0).outcome()).isEqualTo(Attempt.Outcome.FAILED);
  }

  @Test
  void jobsMayBeSubmittedByAnyThread() throws Exception {
    List<CompletableFuture<Void>> threads =
        IntStream.range(0, 4)
            .mapToObj(
                thread ->
                    CompletableFuture.runAsync(
                        () ->
                            IntStream.range(0, 50)
                                .forEach(
                                    i ->
                                        tasks.send(
                                            job(thread + "-" + i, Duration.ofSeconds(1)).build()))))
            .toList();
    CompletableFuture.allOf(threads.toArray(CompletableFuture[]::new)).get();

    scheduler.register(TYPE, ran::add);
    scheduler.advance(Duration.ofSeconds(1));

    assertThat(ran).hasSize(200).doesNotHaveDuplicates();
  }

  @Test
  void theClockIsMovedByNobodyElse() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch tried = new CountDownLatch(1);
    scheduler.register(
        TYPE,
        params -> {
          inside.countDown();
          tried.await();
        });
    scheduler.register(
        "moves",
        params ->
            assertThatThrownBy(() -> scheduler.advance(Duration.ofSeconds(1)))
                .hasMessageStartingWith("advance(PT1S) was called by a worker"));
    tasks.send("moves", "", Duration.ZERO);
    scheduler.runDue();
    tasks.send(job("1", Duration.ZERO).build());
    CompletableFuture<List<Attempt>> first = CompletableFuture.supplyAsync(scheduler::runDue);
    inside.await();
    try {
      assertThatThrownBy(scheduler::runDue)
          .hasMessageStartingWith("runDue() was called while another thread moves the clock");
    } finally {
      tried.countDown();
    }
    assertThat(first.get()).hasSize(1);
    assertThatThrownBy(() -> scheduler.advance(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> scheduler.advanceTo(START.minusMillis(1)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theClockIsAnInstantSourceInAnyZone() {
    Clock tokyo = scheduler.clock().withZone(ZoneId.of("Asia/Tokyo"));
    scheduler.advance(Duration.ofHours(1));
    assertThat(tokyo.instant()).isEqualTo(START.plusSeconds(3600)).isEqualTo(scheduler.now());
    assertThat(tokyo.getZone()).isEqualTo(ZoneId.of("Asia/Tokyo"));
  }

  @Test
  void withoutAnotherWishTheClockBeginsNow() {
    Instant before = Instant.now().minusMillis(1);
    assertThat(TestScheduler.create().now()).isBetween(before, Instant.now());
  }

  @Test
  void aResetForgetsEverything() {
    scheduler.register(TYPE, ran::add);
    tasks.send(job("1", Duration.ZERO).build());
    tasks.send(job("2", Duration.ofDays(1)).build());
    scheduler.advance(Duration.ofHours(1));

    scheduler.reset();

    assertThat(scheduler.now()).isEqualTo(START);
    assertThat(scheduler.jobs()).isEmpty();
    assertThat(scheduler.attempts()).isEmpty();
    assertThat(tasks.send(job("1", Duration.ZERO).build()).outcome())
        .isEqualTo(SubmitResult.Outcome.CREATED);
    assertThat(scheduler.runDue()).as("the worker was the test's").isEmpty();
  }

  @Test
  void aResetIsRefusedWhileTheClockIsMoved() {
    scheduler.register(
        "resets",
        params ->
            assertThatThrownBy(scheduler::reset)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("reset() was called by a worker"));
    tasks.send("resets", "", Duration.ofHours(1));

    assertThat(scheduler.advance(Duration.ofHours(2)))
        .extracting(Attempt::outcome)
        .containsExactly(Attempt.Outcome.DONE);
    assertThat(scheduler.now()).isEqualTo(START.plusSeconds(7200));
  }

  @Test
  void afterAResetTimeGoesOnFromTheBeginning() {
    List<List<Attempt>> all = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      scheduler.register(TYPE, ran::add);
      scheduler.faults().killScheduler(TYPE);
      tasks.send(job("1", Duration.ofMinutes(1)).build());
      tasks.send(job("2", Duration.ofDays(3)).build());
      all.add(scheduler.advance(Duration.ofDays(30)));
      scheduler.reset();
    }

    assertThat(all.get(0)).hasSize(3).isEqualTo(all.get(1));
  }

  @Test
  void listenersHearOfEachAttemptInTheSchedulersTime() {
    List<JobAttempt> heard = new ArrayList<>();
    TestScheduler heardOf =
        TestScheduler.builder().startingAt(START).listeners(() -> List.of(heard::add)).build();
    heardOf.register(TYPE, ran::add);
    heardOf.taskSubmitService().send(job("1", Duration.ofHours(1)).build());

    heardOf.advance(Duration.ofHours(1));

    assertThat(heard).hasSize(1);
    assertThat(heard.get(0).startedAt()).isEqualTo(START.plusSeconds(3600));
    assertThat(heard.get(0).outcome()).isEqualTo(JobAttempt.Outcome.DONE);
  }

  @Test
  void aThousandJobsAreNoBurden() {
    scheduler.register(TYPE, ran::add);
    IntStream.range(0, 1_000).forEach(i -> tasks.send(job("" + i, Duration.ofSeconds(i)).build()));

    assertThat(scheduler.advance(Duration.ofDays(1))).hasSize(1_000);
  }

  @Test
  void workersSeeTheirAttemptInTheSchedulersTime() {
    List<TaskContext> seen = new ArrayList<>();
    scheduler.register(
        new TaskWorker() {
          @Override
          public String type() {
            return TYPE;
          }

          @Override
          public void invoke(String params) {
            throw new AssertionError("it asked for the context");
          }

          @Override
          public void invoke(String params, TaskContext context) {
            seen.add(context);
            throw context.retryAfter(Duration.ofMinutes(5));
          }
        });
    tasks.send(job("1", Duration.ofHours(1)).header("a", "b").build());

    scheduler.advance(Duration.ofMinutes(65));

    assertThat(seen).hasSize(2);
    TaskContext second = seen.get(1);
    assertThat(second.taskId()).isEqualTo("1");
    assertThat(second.attempt()).isEqualTo(2);
    assertThat(second.dueAt()).isEqualTo(START.plusSeconds(3600));
    assertThat(second.lateness()).isZero();
    assertThat(scheduler.attempts().get(1).lateness()).isZero();
    assertThat(second.deadline()).isEqualTo(scheduler.now().plus(Limits.DEFAULT_TIME_TO_RUN));
    assertThat(second.headers()).containsExactly(Map.entry("a", "b"));
    assertThat(second.isCancelled()).isFalse();
  }

  record CloseOrder(String order, Instant placedAt) {}

  @Test
  void payloadsAreJson() {
    scheduler.register(TYPE, ran::add);

    tasks.send(TYPE, new CloseOrder("1001", START), Duration.ofMinutes(1));
    tasks.send(TYPE, "as it is", START.plusSeconds(120));
    scheduler.advance(Duration.ofMinutes(2));

    assertThat(ran)
        .containsExactly("{\"order\":\"1001\",\"placedAt\":\"2026-03-01T12:00:00Z\"}", "as it is");
  }

  @Test
  void jobsAreFoundAndCancelledByTag() {
    tasks.job(TYPE, "").id("1").tag("order:1001").in(Duration.ofHours(1)).send();

    assertThat(tasks.find(TYPE, "1")).map(JobInfo::state).hasValue(JobInfo.State.DELAYED);
    assertThat(tasks.cancelByTag("order:1001").items()).hasSize(1);
    assertThat(scheduler.jobs()).isEmpty();
  }
}
