package io.punctual;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The code that runs when a job of one task type is due. Declare one bean per task type; its
 * application is then called for the jobs of that type.
 *
 * <p>A job is handed out at least once: after a crash or a lost answer the same job may come again,
 * with the same task id. {@link #invoke} must therefore bear being repeated.
 *
 * <p>Implementations are called from many threads at once.
 */
public interface TaskWorker {

  /**
   * The task type that this worker answers to: 1 to 128 characters of {@code [A-Za-z0-9._:-]}, the
   * same on every call, and taken by no other worker of the application.
   */
  String type();

  /**
   * Does the work. Returning means done; the job is then finished and gone.
   *
   * @param params the text that was submitted with the job, byte for byte; may be empty
   * @throws RejectTaskException to say that this job must never be tried again
   * @throws RetryLaterException to say when it shall be tried again
   * @throws Exception anything else is a failed attempt: the job walks its retry policy
   */
  void invoke(String params) throws Exception;

  /**
   * Does the work, knowing which attempt it is. It calls {@link #invoke(String)} unless a worker
   * overrides it.
   *
   * @param params the text that was submitted with the job, byte for byte; may be empty
   * @param context this attempt
   * @throws Exception as {@link #invoke(String)}
   */
  default void invoke(String params, TaskContext context) throws Exception {
    invoke(params);
  }

  /**
   * Does the work, or begins work that goes on without a thread of ours. This is what is called; it
   * calls {@link #invoke(String, TaskContext)}, behind which nothing goes on, unless a worker
   * overrides it.
   *
   * <p>The job is done when the stage completes normally. Completed exceptionally, it means what
   * the same exception means that is thrown, out of any {@link
   * java.util.concurrent.CompletionException}. Until then the job runs: it takes one of the places
   * for its type, its time-to-run goes on, and a stop of the application waits for it. When its
   * time is over, {@link TaskContext#isCancelled} becomes true, what was given to {@link
   * TaskContext#onCancel} runs, and the stage's future is cancelled.
   *
   * @param params the text that was submitted with the job, byte for byte; may be empty
   * @param context this attempt; valid until the stage has completed
   * @return completes when the work has ended; never null. One that is completed already says that
   *     the work was done during the call
   * @throws Exception as {@link #invoke(String)}
   */
  default CompletionStage<?> invokeAsync(String params, TaskContext context) throws Exception {
    invoke(params, context);
    return CompletableFuture.completedFuture(null);
  }

  /**
   * The class shown for this worker in logs. A worker that is a lambda or a proxy may name the
   * class it stands for.
   */
  default Class<?> clazz() {
    return getClass();
  }
}
