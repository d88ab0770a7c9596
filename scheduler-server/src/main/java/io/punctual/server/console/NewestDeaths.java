package io.punctual.server.console;

import io.punctual.core.Engine;
import io.punctual.core.Operations.Listed;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.JobView;
import io.punctual.server.jobs.JobFilter;
import io.punctual.server.jobs.StoreCalls;
import io.punctual.server.metrics.QueueSample;
import io.punctual.wire.Limits;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Lists the dead letters of several queues together, the newest first. It reads only queues that
 * may have one of them, as their last death says.
 */
final class NewestDeaths {

  /**
   * Queues in which a job died after the place where a page begins come first, before any job of
   * the page is known: they may cost so many calls more.
   */
  private static final int MAX_CAUGHT_UP = 1_000;

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
   * @param ended whether all were looked at
   */
  record Found(List<JobView> jobs, @Nullable Place next, boolean ended) {}

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
   * @param failed what is wanted of their failures
   * @param most how many are found at most
   * @param calls what may still be asked of the store about what stands behind {@code after}
   */
  static Found find(
      Engine engine,
      Collection<QueueSample> queues,
      Place after,
      long earliest,
      JobFilter.Failed failed,
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
    StoreCalls catchingUp = StoreCalls.upTo(MAX_CAUGHT_UP);
    int page = failed.isAny() ? Math.min(JobStore.MAX_JOBS, most) : JobStore.MAX_JOBS;
    while (!left.isEmpty() && !isFull(found, most, left.element().from)) {
      StoreCalls own = left.element().from.equals(after) ? catchingUp : calls;
      if (own.areUsedUp()) {
        break;
      }
      Part part = left.remove();
      Listed<Cursor> listed;
      try {
        listed =
            engine
                .operations()
                .jobs(part.queue, JobState.DEAD, /* newestFirst= */ true, part.cursor(), page);
      } catch (StoreException e) {
        // Damaged since it was sampled.
        if (e.kind() != StoreException.Kind.CORRUPT || queues.size() == 1) {
          throw e;
        }
        continue;
      }
      own.count(listed.calls());
      for (JobView job : listed.jobs()) {
        if (job.at() >= earliest && failed.matches(job)) {
          found.add(job);
        }
      }
      found.sort(Comparator.comparing(Place::of, Place.ORDER));
      if (found.size() > most) {
        // One more says that there are more.
        found.subList(most + 1, found.size()).clear();
      }
      Cursor next = listed.next();
      if (next != null && next.score() >= earliest) {
        part.read = new Place(next.score(), next.taskId(), part.queue.toString());
        part.from = part.read;
        left.add(part);
      }
    }
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
            : after.equals(unseen) ? null : unseen;
    return new Found(jobs, next, left.isEmpty());
  }

  /** Returns whether enough were found that stand before a place. */
  private static boolean isFull(List<JobView> found, int most, Place place) {
    return found.size() >= most
        && found.stream().filter(job -> Place.ORDER.compare(Place.of(job), place) <= 0).count()
            >= most;
  }
}
