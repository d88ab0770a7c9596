package io.punctual.server.console;

import io.punctual.core.Engine;
import io.punctual.core.Operations.Listed;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.JobView;
import io.punctual.server.jobs.StoreCalls;
import io.punctual.server.metrics.QueueSample;
import io.punctual.wire.Limits;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Lists the dead letters of several queues together, the newest first. It reads only queues that
 * may have one of them, as their last death says.
 */
final class NewestDeaths {

  /** A place in the list: behind the job that died then. */
  record Place(long at, String taskId, String queue) {

    private static final Comparator<Place> ORDER =
        Comparator.comparingLong(Place::at)
            .thenComparing(Place::taskId)
            .reversed()
            .thenComparing(Place::queue);

    /** The place in front of all jobs that died at a time, epoch ms, or before. */
    static Place since(long at) {
      // Behind every id.
      return new Place(at, "~".repeat(Limits.MAX_NAME + 1), "");
    }

    private static Place of(JobView job) {
      return new Place(job.at(), job.taskId(), job.queue().toString());
    }
  }

  /**
   * What was found.
   *
   * @param next where to go on; null at the end, and where no call is left to go on
   * @param looked how many dead letters were looked at
   * @param ended whether all were looked at
   */
  record Found(List<JobView> jobs, @Nullable Place next, long looked, boolean ended) {}

  private static final class Part {

    private final QueueName queue;
    // Behind what was read.
    private Place read;
    // Nothing that was not read stands before this, as far as is known.
    private Place from;

    Part(QueueName queue, Place read, Place from) {
      this.queue = queue;
      this.read = read;
      this.from = from;
    }

    private Cursor cursor() {
      // '!' stands before all characters of ids: behind this id, and in front of all that follow.
      return new Cursor(
          read.at(),
          queue.toString().compareTo(read.queue()) > 0 ? read.taskId() + "!" : read.taskId());
    }
  }

  private NewestDeaths() {}

  /**
   * Finds dead letters.
   *
   * @param queues those to look at
   * @param earliest epoch ms; who died before is not wanted
   * @param wanted says which are found
   * @param most how many are found at most
   * @param calls what may still be asked of the store
   */
  static Found find(
      Engine engine,
      Collection<QueueSample> queues,
      Place after,
      long earliest,
      Predicate<JobView> wanted,
      int most,
      StoreCalls calls) {
    PriorityQueue<Part> left =
        new PriorityQueue<>(Comparator.comparing((Part part) -> part.from, Place.ORDER));
    for (QueueSample queue : queues) {
      Long last = queue.stats().lastDeath();
      if (last != null && !queue.damaged() && last >= earliest) {
        Place first = Place.since(last);
        left.add(
            new Part(queue.queue(), after, Place.ORDER.compare(first, after) > 0 ? first : after));
      }
    }
    List<JobView> found = new ArrayList<>();
    long looked = 0;
    while (!left.isEmpty() && !calls.areUsedUp() && !isFull(found, most, left.element().from)) {
      Part part = left.remove();
      Listed<Cursor> page =
          engine
              .operations()
              .jobs(
                  part.queue,
                  JobState.DEAD,
                  /* newestFirst= */ true,
                  part.cursor(),
                  JobStore.MAX_JOBS);
      calls.count(page.calls());
      for (JobView job : page.jobs()) {
        looked++;
        if (job.at() >= earliest && wanted.test(job)) {
          found.add(job);
        }
      }
      Cursor next = page.next();
      if (next != null && next.score() >= earliest) {
        part.read = new Place(next.score(), next.taskId(), part.queue.toString());
        part.from = part.read;
        left.add(part);
      }
    }
    found.sort(Comparator.comparing(Place::of, Place.ORDER));
    Place unseen = left.isEmpty() ? null : left.element().from;
    // Behind that, the queue that was not read further may have others.
    List<JobView> jobs =
        found.stream()
            .filter(job -> unseen == null || Place.ORDER.compare(Place.of(job), unseen) <= 0)
            .limit(most)
            .toList();
    Place next =
        jobs.size() == most && (found.size() > most || unseen != null)
            ? Place.of(jobs.get(most - 1))
            : Objects.equals(unseen, after) ? null : unseen;
    return new Found(jobs, next, looked, left.isEmpty());
  }

  /** Returns whether enough were found that stand before a place. */
  private static boolean isFull(List<JobView> found, int most, Place place) {
    return found.size() >= most
        && found.stream().filter(job -> Place.ORDER.compare(Place.of(job), place) <= 0).count()
            >= most;
  }
}
