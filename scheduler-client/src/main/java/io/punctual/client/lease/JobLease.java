package io.punctual.client.lease;

import io.punctual.internal.AttemptLease;
import java.time.Duration;

/** The lease of one delivery of a job. */
public interface JobLease extends AttemptLease {

  /** Whoever sent the job hears that it may take so long from now on; nobody is asked. */
  void remind(Duration timeToRun);

  /** Runs the action if it turns out that the job is not ours any more. */
  void onLost(Runnable action);

  /** Runs the action if it turns out that the attempt is to stop, since its job was cancelled. */
  default void onCancelled(Runnable action) {}

  /** The attempt has reached its time-to-run, and is about to be interrupted. Must be quick. */
  default void timeOver(Duration timeToRun) {}
}
