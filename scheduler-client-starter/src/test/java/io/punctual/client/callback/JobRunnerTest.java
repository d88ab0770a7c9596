package io.punctual.client.callback;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.TaskContext;
import io.punctual.TaskWorker;
import io.punctual.client.tracing.JobTracing;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import io.punctual.worker.JobListeners;
import io.punctual.worker.TaskWorkers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How many jobs run at once, and what becomes of those that do not. */
class JobRunnerTest {

  private final CountDownLatch go = new CountDownLatch(1);
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicInteger cancelled = new AtomicInteger();
  private final JobRunner runner =
      new JobRunner(
          new TaskWorkers(Map.of("narrow", new Waiting("narrow"), "wide", new Waiting("wide"))),
          new JobListeners(List.of()),
          JobTracing.NONE,
          10,
          type -> type.equals("narrow") ? 2 : 10);

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

  private CompletableFuture<CallbackResult> run(String type, String id, long timeToRun) {
    return runner.run(new CallbackRequest.Job(id, type, id, 1, 1, timeToRun, "", Map.of()));
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
      go.await();
    }
  }
}
