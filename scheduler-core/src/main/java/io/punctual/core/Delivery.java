package io.punctual.core;

import io.punctual.core.job.AttemptCounts;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.QueueName;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of one job, to be ended once. The first ending counts; any later one but {@link
 * #done} changes nothing. The future of an ending completes when the store has it or refused it for
 * good (the lease was lost), and exceptionally when the engine was closed before.
 *
 * <p>Endings never block and never throw; they are kept and sent again while the store is away.
 */
public interface Delivery {

  QueueName queue();

  String taskId();

  String incarnation();

  /** Counted from 1. */
  int attempt();

  /**
   * The number of this claim among the changes of the job's incarnation: each later attempt of the
   * same incarnation has a larger one.
   */
  long version();

  /** Epoch ms by the store's clock at which the job was claimed. */
  long claimedAt();

  /** Epoch ms at which the job was due at first. */
  long dueTime();

  /**
   * Epoch ms from which on this attempt is late: the due time of the job; for a further attempt
   * that of the retry. If the job was accepted later, or the hours of its queue began later, it is
   * late from then on.
   */
  long lateSince();

  /** For how many ms it could have gone out when it was claimed, by the store's clock. */
  long waited();

  JobContent content();

  AttemptCounts tries();

  /** Whether this job must not share a request with others. */
  boolean travelsAlone();

  /**
   * It is on its way to whoever runs it. Where nobody was there and another one is tried, this is
   * called again.
   */
  void started();

  /** Whether the lease is still ours as far as this process can tell by its monotonic clock. */
  default boolean leaseHeld() {
    return !leaseLeft().isZero();
  }

  /** Returns for how long the lease is still ours, unless it is extended; zero if it is lost. */
  Duration leaseLeft();

  /** The right to speak for this attempt, for those who do so through {@link Claims}. */
  ClaimToken token();

  /**
   * Has it open for that much longer than now, or as long as before, whichever is longer, before it
   * is taken for forgotten. Its lease is kept alive as before, and asked for once here. Blocks.
   *
   * @return false if the lease is lost
   * @throws io.punctual.core.store.StoreException if the store did not answer
   */
  boolean extend(Duration timeToRun);

  /**
   * Has the lease last at least that long from now, whoever lives. Blocks.
   *
   * @return false if the lease is lost
   * @throws io.punctual.core.store.StoreException if the store did not answer
   */
  boolean hold(Duration within);

  /** Runs the action once it is seen that the lease is lost. It must be quick. */
  void onLost(Runnable action);

  /**
   * Runs the action when it is seen that the attempt is to stop, since its job is to be cancelled;
   * at once if that was seen before. It may run again, as hints get lost, and must be quick. Unless
   * the attempt ends as {@link #done} anyway, its end cancels the job.
   */
  void onCancelling(Runnable action);

  /**
   * Done. Counts even when the lease is lost, and even after another ending, as when the answer
   * came later than anybody waited for it.
   *
   * @param instance where it ran; empty if that is not known
   */
  CompletableFuture<Void> done(String instance);

  /** Done, at an instance that is not known. */
  default CompletableFuture<Void> done() {
    return done("");
  }

  /**
   * The worker said that it failed.
   *
   * @param delay the worker's wish; null leaves it to the retry policy
   */
  CompletableFuture<Void> failed(ErrorNote note, @Nullable Duration delay);

  /**
   * It was sent, and nobody knows how it ended.
   *
   * @param cause why nobody knows
   */
  CompletableFuture<Void> unknown(ErrorNote note, boolean travelledAlone, RepeatCause cause);

  /**
   * Nothing ran: no attempt.
   *
   * @param delay until it may go out again: zero where the dispatcher itself sees to it that this
   *     takes a while; null for a back-off of the job's own
   */
  CompletableFuture<Void> undeliverable(ErrorNote note, @Nullable Duration delay);

  /** Given back untried, at once. */
  CompletableFuture<Void> release();

  /**
   * The job goes on without whoever it was delivered to: it is ended through {@link Claims}, by its
   * token, so long from now, or comes back. Its lease is not kept alive any more.
   */
  CompletableFuture<Void> deferred(Duration within);

  /** Never again. */
  CompletableFuture<Void> rejected(ErrorNote note);
}
