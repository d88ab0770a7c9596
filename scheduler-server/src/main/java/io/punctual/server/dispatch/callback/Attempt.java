package io.punctual.server.dispatch.callback;

import io.punctual.core.Delivery;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a job at one instance, as the protocols see it. The first end counts; after it
 * only {@link #done} has an effect, since the work is done then.
 */
public interface Attempt {

  Delivery delivery();

  boolean isEnded();

  /**
   * Lets the attempt take that much longer than now; has no effect once it ended. Blocks until the
   * store has renewed the lease.
   */
  void extend(Duration timeToRun);

  /** How long the attempt may still take beyond its time-to-run; null if it never asked. */
  @Nullable Duration extension();

  /** The worker did the job. */
  void done();

  /**
   * The worker failed.
   *
   * @param delay until the next attempt; null leaves it to the retry policy
   */
  void failed(String error, @Nullable Duration delay);

  /** The job goes on without the instance and is ended by its token within that time. */
  void deferred(Duration within);

  /** The worker says never again. */
  void rejected(String error);

  /** The instance did not start the job. */
  void refused(String error);

  /** The instance did not answer within the job's time-to-run. */
  void timeOver(String error);

  /** The connection broke before the answer was complete. */
  void connectionBroke(String error);

  /** The answer was complete or readable, but says nothing about this job that counts. */
  void badAnswer(String error);
}
