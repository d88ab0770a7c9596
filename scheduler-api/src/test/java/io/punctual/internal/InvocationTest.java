package io.punctual.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.RejectTaskException;
import io.punctual.TaskContext;
import io.punctual.TaskWorker;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class InvocationTest {

  private interface Work {
    @Nullable CompletionStage<?> begin(TaskContext context) throws Exception;
  }

  private final List<String> happened = new ArrayList<>();
  private final Deque<Runnable> later = new ArrayDeque<>();
  private final TimeLimit limit =
      new TimeLimit(Duration.ofSeconds(30), () -> this.happened.add("time over"));

  @Test
  void aWorkerThatReturnsHasEnded() {
    Invocation.call(
        new TaskWorker() {
          @Override
          public String type() {
            return "t";
          }

          @Override
          public void invoke(String params) {
            happened.add("invoked with " + params);
          }
        },
        "params",
        context(),
        limit,
        later::add,
        listener());

    assertThat(happened).containsExactly("invoked with params", "ended null");
    assertThat(later).isEmpty();
  }

  @Test
  void whatIsThrownEndsIt() {
    call(
        context -> {
          throw new RejectTaskException("no");
        });

    assertThat(happened).containsExactly("ended " + new RejectTaskException("no"));
  }

  @Test
  void aStageThatIsCompleteAlreadyEndsItDuringTheCall() {
    call(context -> CompletableFuture.completedStage("anything"));
    call(context -> CompletableFuture.failedStage(new CompletionException(new Error("broken"))));

    assertThat(happened).containsExactly("ended null", "ended java.lang.Error: broken");
  }

  @Test
  void aStageThatCompletesLaterEndsItThenWithTheExceptionItself() {
    CompletableFuture<String> future = new CompletableFuture<>();
    call(context -> future.thenApply(text -> text));
    assertThat(happened).containsExactly("goes on");

    future.completeExceptionally(new RejectTaskException("no"));
    assertThat(happened).containsExactly("goes on");
    runLater();

    assertThat(happened).containsExactly("goes on", "ended " + new RejectTaskException("no"));
  }

  @Test
  void whereNobodyRunsTheEndWhoeverCompletesItDoes() {
    CompletableFuture<String> future = new CompletableFuture<>();
    Invocation.call(
        worker(context -> future),
        "",
        context(),
        limit,
        task -> {
          throw new RejectedExecutionException("closed");
        },
        listener());

    future.complete("");

    assertThat(happened).containsExactly("goes on", "ended null");
  }

  @Test
  void noStageAtAllIsAnErrorOfTheWorker() {
    call(context -> null);

    assertThat(happened).hasSize(1);
    assertThat(happened.get(0)).contains("the worker for t", "returned null");
  }

  @Test
  void theEndOfItsTimeCancelsTheFutureBehindWhatTheWorkerAskedFor() {
    CompletableFuture<String> future = new CompletableFuture<>();
    call(
        context -> {
          context.onCancel(() -> happened.add("told, cancelled " + future.isCancelled()));
          return future;
        });

    limit.strike();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
    runLater();
    runLater();

    assertThat(happened)
        .containsExactly(
            "goes on",
            "time over",
            "told, cancelled false",
            "ended java.util.concurrent.CancellationException");
    limit.interrupt();
    assertThat(later).isEmpty();
  }

  @Test
  void aTimeThatIsOverBeforeTheFutureIsThereCancelsItToo() {
    CompletableFuture<String> future = new CompletableFuture<>();
    call(
        context -> {
          limit.strike();
          return future;
        });

    assertThat(Thread.currentThread().isInterrupted()).isFalse();
    runLater();
    assertThat(future).isCancelled();
  }

  @Test
  void whatCannotBeCancelledGoesOnToItsEnd() {
    CompletableFuture<String> source = new CompletableFuture<>();
    call(context -> source.minimalCompletionStage());

    limit.strike();
    runLater();
    assertThat(happened).containsExactly("goes on", "time over");
    source.complete("");
    runLater();

    assertThat(happened).containsExactly("goes on", "time over", "ended null");
  }

  private void call(Work work) {
    Invocation.call(worker(work), "", context(), limit, later::add, listener());
  }

  private void runLater() {
    for (Runnable task = later.poll(); task != null; task = later.poll()) {
      task.run();
    }
  }

  private Invocation.Listener listener() {
    return new Invocation.Listener() {
      @Override
      public void goesOn() {
        happened.add("goes on");
      }

      @Override
      public void ended(@Nullable Throwable thrown) {
        happened.add("ended " + thrown);
      }
    };
  }

  private RunningAttempt context() {
    return new RunningAttempt(
        "t", "7", "abc", 1, 0, 0, Map.of(), InstantSource.system(), limit, new AskedLease());
  }

  private static TaskWorker worker(Work work) {
    return new TaskWorker() {
      @Override
      public String type() {
        return "t";
      }

      @Override
      public void invoke(String params) {
        throw new IllegalStateException("called without its attempt");
      }

      // As one that was compiled without our annotations.
      @Override
      @SuppressWarnings("NullAway")
      public CompletionStage<?> invokeAsync(String params, TaskContext context) throws Exception {
        return work.begin(context);
      }
    };
  }
}
