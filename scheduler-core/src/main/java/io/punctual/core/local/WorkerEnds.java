package io.punctual.core.local;

import io.punctual.RejectTaskException;
import io.punctual.RetryLaterException;
import io.punctual.core.Delivery;
import io.punctual.core.job.ErrorNote;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Settles a job whose worker ended in this process. */
public final class WorkerEnds {

  private WorkerEnds() {}

  /**
   * Stores it: the job is done, rejected, or tried again.
   *
   * @param instance who ran it, shown with how the job ended
   * @param thrown what the worker threw; null if it returned
   * @param deferred for how long from now it left the job to somebody else; null if it did not
   * @return completes when that is stored
   */
  public static CompletableFuture<Void> store(
      Delivery delivery, String instance, @Nullable Throwable thrown, @Nullable Duration deferred) {
    if (thrown == null) {
      return deferred == null ? delivery.done(instance) : delivery.deferred(deferred);
    } else if (thrown instanceof RejectTaskException) {
      return delivery.rejected(new ErrorNote(instance, said(thrown)));
    } else if (thrown instanceof RetryLaterException later) {
      return delivery.failed(new ErrorNote(instance, said(thrown)), later.delay());
    }
    String message = thrown.getMessage();
    String error = thrown.getClass().getName() + (message == null ? "" : ": " + message);
    return delivery.failed(new ErrorNote(instance, error), null);
  }

  private static String said(Throwable byWorker) {
    String message = byWorker.getMessage();
    return message != null ? message : byWorker.getClass().getSimpleName();
  }
}
