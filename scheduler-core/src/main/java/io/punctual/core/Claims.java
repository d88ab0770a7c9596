package io.punctual.core;

import io.punctual.core.job.QueueName;
import io.punctual.core.store.Settled;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The door for those who fetch jobs themselves, and for those who end jobs that a worker has
 * deferred. A pulled job is the caller's for its time to run, whatever becomes of this engine; it
 * is ended by {@link #done}, {@link #failed}, {@link #rejected} or {@link #release}, or comes back.
 *
 * <p>Queues may be pulled from and pushed by a {@link Dispatcher} at once: both take from the same
 * buckets, in turns where both wait.
 */
public interface Claims {

  /**
   * Fetches jobs that are due, in order of their due times within a bucket. What is due already is
   * taken at once, from the first queue that has something on; otherwise the first that falls due
   * in any of the queues ends the wait. Those who wait for one queue are served in the order in
   * which they came. Waiting costs no thread. Buckets that are damaged or away are left out.
   *
   * @throws io.punctual.core.store.StoreException if none of the buckets could be asked
   * @return completes with no job when the wait is over or the engine stops; when somebody
   *     completed or cancelled it before, jobs that come too late for it are given back untried.
   *     Completed on a thread of the engine: what follows must not block
   */
  CompletableFuture<List<PulledJob>> pull(PullRequest request);

  /** Returns the queues among these that were paused when they were last claimed from. */
  List<QueueName> paused(List<QueueName> queues);

  /** It is done. Counts even if the job is not the caller's any more. */
  CompletableFuture<Settled> done(ClaimToken token);

  /**
   * It failed.
   *
   * @param delay until the next attempt; null leaves it to the retry policy
   */
  CompletableFuture<Settled> failed(
      ClaimToken token, String worker, String error, @Nullable Duration delay);

  /** Never again. */
  CompletableFuture<Settled> rejected(ClaimToken token, String worker, String error);

  /**
   * The caller gives it back untried: no attempt. It waits behind the jobs that are due now, so
   * that the caller does not get it again before them.
   *
   * @param delay until it may go out again
   */
  CompletableFuture<Settled> release(ClaimToken token, Duration delay);

  /** It never reached its puller: no attempt, and it waits at the place that it had. */
  CompletableFuture<Settled> giveBack(ClaimToken token);

  /**
   * The pullers have these jobs. From now on an attempt that runs out counts; without this call the
   * lease runs out at no cost, unless it was extended. Never blocks.
   */
  void received(List<PulledJob> jobs);

  /**
   * Asks for more time.
   *
   * @param timeToRun from now; null for the job's own
   * @return until when it is the caller's; empty if it is not any more
   */
  Optional<Extension> extend(ClaimToken token, @Nullable Duration timeToRun);

  /**
   * The end of a lease that was extended.
   *
   * @param until epoch ms
   * @param cancelling whether the attempt is to stop, since its job is to be cancelled
   */
  record Extension(long until, boolean cancelling) {}

  /**
   * Looks at jobs that the caller has, and changes nothing.
   *
   * @return what has happened to some of them
   */
  Checked check(List<ClaimToken> tokens);

  /**
   * What a check found.
   *
   * @param lost those that are not the caller's any more
   * @param cancelling those whose attempts are to stop, since their jobs are to be cancelled
   */
  record Checked(List<ClaimToken> lost, List<ClaimToken> cancelling) {}
}
