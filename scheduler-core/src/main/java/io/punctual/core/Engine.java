package io.punctual.core;

import io.punctual.DelayQueueJob;
import io.punctual.conflict.OnConflict;
import io.punctual.core.calendar.Calendars;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.query.JobView;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The scheduler without its doors: accepts jobs, and gives them to a {@link Dispatcher} when they
 * are due. Any number of engines work on the same store at once.
 */
public interface Engine extends AutoCloseable {

  /**
   * Starts the scanners of all queues that the store knows, and goes on doing so. An engine may be
   * started again after a stop or close.
   *
   * @throws IllegalStateException while a stop is under way
   * @throws UnfitStoreException if the store can not keep the durability that is wanted
   */
  void start();

  /**
   * Stops claiming, waits for open deliveries, and closes. What the dispatcher has not started it
   * should release itself; deliveries that are still open after the wait are ended as unknown, at
   * no cost to the limit of attempts, so that somebody else takes them soon.
   *
   * @param patience how long open deliveries may take
   */
  void stop(Duration patience);

  /** Stops at once; what is in flight is left to its leases. */
  @Override
  void close();

  /**
   * Stores a job; jobs that arrive together share one call to the store. Never blocks.
   *
   * @param submitter who wants it, for people; null where that is not known. It is no part of what
   *     makes two jobs the same
   * @throws IllegalArgumentException if the application's name or a text cannot be stored
   * @return completes when the store has answered; exceptionally with a StoreException
   */
  CompletableFuture<Submit> submit(
      String application, DelayQueueJob job, @Nullable String submitter);

  /** As above, without a submitter; with or without {@link OnConflict#REPLACE}. */
  default CompletableFuture<Submit> submit(String application, DelayQueueJob job, boolean replace) {
    return submit(
        application, replace ? job.toBuilder().onConflict(OnConflict.REPLACE).build() : job, null);
  }

  /** The door for those who fetch jobs themselves. */
  Claims claims();

  /** The door for those who look after the queues. */
  Operations operations();

  /** The door for those who plan what recurs. */
  Schedules schedules();

  /** The dates on which jobs that name them do not start. */
  Calendars calendars();

  /** Looks at a job or its tombstone. */
  Optional<JobView> find(QueueName queue, String taskId);

  /** All known queues with their numbers of buckets. */
  Map<QueueName, Integer> queues();

  /**
   * Counts of one queue over all its buckets; empty if it is not known. A queue whose keys are
   * damaged is no error, but {@link QueueStats#damage} says so.
   */
  Optional<QueueStats> stats(QueueName queue);

  /**
   * Tells which queues have changed, at a small part of the cost of {@link #stats}.
   *
   * @param queues those that are not known are left out
   */
  QueueStamps stamps(Collection<QueueName> queues);

  /** What the jobs stand on, and whether it is sound. */
  StoreHealth storeHealth();

  /**
   * The engines that share the store, with this one, as far as it knows: the version of the program
   * of each, by its name.
   */
  SortedMap<String, String> members();

  /** Whether the scanners are at work; none while the engine is stopped. */
  ScannerHealth scanners();

  /**
   * Lists what is in use now: deliveries in flight, submissions that wait, pulls that wait, claims
   * and looks under way. Empty when the engine is at rest.
   */
  List<String> inUse();

  /** What the store may have lost, for applications that keep what they sent. */
  LossJournal lossJournal();

  /**
   * Asks applications that keep what they sent to send it again: adds to the journal of losses.
   *
   * @param since what was acknowledged after that time
   * @throws io.punctual.core.store.StoreException if the store was not reached or refused
   */
  LossJournal requestResend(Instant since);

  /** An operator has seen what the store lost: it is not part of its health any more. */
  void acknowledgeLosses();

  /** To be called when a dispatcher's {@link Dispatcher#capacity} may have grown. */
  void capacityChanged(QueueName queue);
}
