package io.punctual.internal;

import io.punctual.TaskContext;
import io.punctual.TaskWorker;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** A worker's work from its call to its end, which may come after the worker has returned. */
public final class Invocation {

  /** Hears what becomes of the work. */
  public interface Listener {

    /**
     * The worker has returned, and the work goes on. Called on the thread of the call, before
     * {@link #ended}; not at all where the work ended during the call.
     */
    default void goesOn() {}

    /**
     * The work has ended. Called once: on the thread of the call where it ended during the call,
     * else by the executor.
     *
     * @param thrown what the worker threw or its future completed with; null for success
     */
    void ended(@Nullable Throwable thrown);
  }

  private Invocation() {}

  /**
   * Calls a worker on this thread, and tells the limit how it goes on.
   *
   * @param later runs what follows the end of a future, so that whoever completes one is not held
   *     up; where it refuses, that thread does it
   */
  public static void call(
      TaskWorker worker,
      String params,
      TaskContext context,
      TimeLimit limit,
      Executor later,
      Listener listener) {
    CompletionStage<?> stage;
    CompletableFuture<@Nullable Throwable> end = new CompletableFuture<>();
    try {
      stage = started(worker, params, context);
      var unused = stage.whenComplete((value, error) -> end.complete(cause(error)));
    } catch (Throwable e) {
      limit.over();
      listener.ended(e);
      return;
    }
    if (end.isDone()) {
      limit.over();
      listener.ended(end.join());
      return;
    }
    // Elsewhere, since what hangs on the future is the application's, and may take long.
    limit.handOver(() -> execute(later, () -> cancel(stage)));
    listener.goesOn();
    var unused =
        end.thenAccept(
            thrown ->
                execute(
                    later,
                    () -> {
                      limit.over();
                      listener.ended(thrown);
                    }));
  }

  // Workers are not all compiled with our annotations.
  @SuppressWarnings({"NullAway", "ConstantConditions"})
  private static CompletionStage<?> started(TaskWorker worker, String params, TaskContext context)
      throws Exception {
    CompletionStage<?> stage = worker.invokeAsync(params, context);
    if (stage == null) {
      throw new IllegalStateException(
          "the worker for %s (%s) returned null in the place of a CompletionStage: the end of its work cannot be known"
              .formatted(worker.type(), worker.clazz().getName()));
    }
    return stage;
  }

  private static void execute(Executor later, Runnable task) {
    try {
      later.execute(task);
    } catch (RuntimeException | Error e) {
      // The application ends, or has no memory for a thread.
      task.run();
    }
  }

  /** Cancels the future of a stage, as far as it has one. */
  public static void cancel(CompletionStage<?> stage) {
    try {
      var unused = stage.toCompletableFuture().cancel(true);
    } catch (UnsupportedOperationException e) {
      // One that cannot be cancelled ends by itself; its place is taken until then.
      return;
    }
  }

  /** What a stage completed with, without what stages put around it; null for success. */
  public static @Nullable Throwable cause(@Nullable Throwable error) {
    Throwable found = error;
    while ((found instanceof CompletionException || found instanceof ExecutionException)
        && found.getCause() != null) {
      found = found.getCause();
    }
    return found;
  }
}
