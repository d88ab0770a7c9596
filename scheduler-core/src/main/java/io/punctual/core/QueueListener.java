package io.punctual.core;

import io.punctual.core.job.ErrorNote;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Submitted;
import java.util.function.Consumer;

/**
 * Is told what becomes of the jobs of one queue, as far as this engine has a part in it. Called by
 * the engine's threads, mostly once for many jobs: it must not block or throw.
 */
public interface QueueListener {

  /** Nobody listens. */
  QueueListener NONE = new QueueListener() {};

  /**
   * Receives each event that this listener does not override. Ignores it, unless the listener
   * stands before another one and passes it on.
   */
  default void pass(Consumer<QueueListener> event) {}

  /** The store has answered submits. */
  default void submitted(Submitted.Kind answer, int jobs) {
    pass(next -> next.submitted(answer, jobs));
  }

  /** Submits had no answer, or the store refused them. */
  default void notSubmitted(int jobs) {
    pass(next -> next.notSubmitted(jobs));
  }

  /** Attempts have ended so; those whose lease was lost are not among them. */
  default void ended(Settlement.Op how, int jobs) {
    pass(next -> next.ended(how, jobs));
  }

  /**
   * An attempt failed, was rejected, or ended without an answer. It is counted by {@link #ended} as
   * well.
   *
   * @param note what went wrong, and where
   */
  default void failed(ErrorNote note) {
    pass(next -> next.failed(note));
  }

  /** For the first time, a job was with somebody who runs it. */
  default void delivered(Lateness lateness) {
    pass(next -> next.delivered(lateness));
  }

  /** A job was with somebody for so long. */
  default void ran(long nanos) {
    pass(next -> next.ran(nanos));
  }

  /**
   * Jobs will go out again.
   *
   * @param jobs how many, 1 or more
   */
  default void repeated(RepeatCause cause, int jobs) {
    pass(next -> next.repeated(cause, jobs));
  }

  /** Jobs have become dead letters. */
  default void died(DeathCause cause, int jobs) {
    pass(next -> next.died(cause, jobs));
  }

  /** Jobs are gone that could not start in time; their queue drops such jobs. */
  default void dropped(int jobs) {
    pass(next -> next.dropped(jobs));
  }

  /**
   * Occurrences of a schedule came due: for some a job was submitted, others did not run because of
   * the one before, or because no engine could submit them in time.
   */
  default void recurred(int fired, int skipped, int missed) {
    pass(next -> next.recurred(fired, skipped, missed));
  }

  /** Leases that were held here, or by somebody who pulls, turned out to be lost. */
  default void lost(int leases) {
    pass(next -> next.lost(leases));
  }
}
