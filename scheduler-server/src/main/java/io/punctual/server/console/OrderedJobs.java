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
import io.punctual.wire.Limits;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Lists the jobs of several queues together, in the order of their times: dead letters the newest
 * first, others the earliest first. It reads only queues that may have one of them.
 */
final class OrderedJobs {

  /**
   * Queues whose first job may stand at the place where a page begins are read before any job of
   * the page is known: they may cost so many calls more.
   */
  private static final int MAX_CAUGHT_UP = 2_000;

  /** Jobs that the first read of a queue fetches at least. */
  private static final int MIN_READ = 10;

  private static final int MORE_EACH_READ = 4;

  // No id stands before the one, and none behind the other.
  private static final String NO_ID = "";
  private static final String EVERY_ID = "~".repeat(Limits.MAX_NAME + 1);

  private final Engine engine;
  private final Wanted wanted;
  private final boolean newestFirst;
  private final Comparator<Place> order;

  private OrderedJobs(Engine engine, Wanted wanted) {
    this.engine = engine;
    this.wanted = wanted;
    this.newestFirst = wanted.state() == JobFilter.State.DEAD;
    Comparator<Place> byTime = Comparator.comparingLong(Place::at);
    Comparator<Place> byId = Comparator.comparing(Place::taskId);
    this.order =
        (newestFirst ? byTime.reversed() : byTime)
            .thenComparing(Place::queue)
            .thenComparing(newestFirst ? byId.reversed() : byId);
  }

  /**
   * What is looked for.
   *
   * @param from epoch ms: the earliest due time, lease deadline or time of death
   * @param until epoch ms: the latest
   * @param failed what is wanted of the attempts that failed
   */
  record Wanted(JobFilter.State state, long from, long until, JobFilter.Failed failed) {}

  /**
   * A queue that is looked at.
   *
   * @param first epoch ms: the time of its first job in the order of the list, as far as is known;
   *     null if that is not known
   */
  record Source(QueueName queue, @Nullable Long first) {}

  /** A place in the list: behind a job, as its time, queue and id say. */
  record Place(long at, String queue, String taskId) {

    private static Place of(JobView job) {
      return new Place(job.at(), job.queue().toString(), job.taskId());
    }
  }

  /**
   * What was found.
   *
   * @param next where to go on; null at the end, and where no call is left to go on
   * @param ended whether all were looked at
   */
  record Found(List<JobView> jobs, @Nullable Place next, boolean ended) {}

  /** What is left of a queue. */
  private static final class Part {

    private final QueueName queue;
    private int page;
    // Behind what was read.
    private Place read;
    // Nothing that was not read stands before this, as far as is known.
    private Place from;

    Part(QueueName queue, int page, Place read, Place from) {
      this.queue = queue;
      this.page = page;
      this.read = read;
      this.from = from;
    }
  }

  /**
   * Finds jobs.
   *
   * @param sources the queues to look at
   * @param after where to go on; null for the beginning
   * @param most how many are found at most
   * @param calls what may still be asked of the store about what stands behind {@code after}
   * @throws StoreException CORRUPT if the only queue is damaged; of several, such a queue is left
   *     out
   */
  static Found find(
      Engine engine,
      Wanted wanted,
      Collection<Source> sources,
      @Nullable Place after,
      int most,
      StoreCalls calls) {
    return new OrderedJobs(engine, wanted).find(sources, after, most, calls);
  }

  private Found find(
      Collection<Source> sources, @Nullable Place after, int most, StoreCalls calls) {
    Place begin = after == null ? inFront(newestFirst ? wanted.until() : wanted.from()) : after;
    PriorityQueue<Part> left =
        new PriorityQueue<>(Comparator.comparing((Part part) -> part.from, order));
    int page =
        wanted.failed().isAny()
            ? Math.min(JobStore.MAX_JOBS, Math.max(MIN_READ, most / Math.max(1, sources.size())))
            : JobStore.MAX_JOBS;
    for (Source source : sources) {
      Place first = source.first() == null ? begin : inFront(source.first());
      if (isWanted(first.at())) {
        left.add(
            new Part(source.queue(), page, begin, order.compare(first, begin) > 0 ? first : begin));
      }
    }
    List<JobView> found = new ArrayList<>();
    StoreCalls catchingUp = StoreCalls.upTo(MAX_CAUGHT_UP);
    while (!left.isEmpty() && !isFull(found, most, left.element().from)) {
      StoreCalls own = left.element().from.equals(begin) ? catchingUp : calls;
      if (own.areUsedUp()) {
        break;
      }
      Part part = left.remove();
      try {
        if (read(part, found, own)) {
          left.add(part);
        }
      } catch (StoreException e) {
        // Damaged since it was sampled.
        if (e.kind() != StoreException.Kind.CORRUPT || sources.size() == 1) {
          throw e;
        }
        own.count(1);
      }
      found.sort(Comparator.comparing(Place::of, order));
      if (found.size() > most) {
        // One more says that there are more.
        found.subList(most + 1, found.size()).clear();
      }
    }
    Place unseen = left.isEmpty() ? null : left.element().from;
    // Behind that, the queue that was not read further may have others.
    List<JobView> jobs =
        found.stream()
            .filter(job -> unseen == null || order.compare(Place.of(job), unseen) <= 0)
            .limit(most)
            .toList();
    Place next =
        jobs.size() == most && (found.size() > most || unseen != null)
            ? Place.of(jobs.get(most - 1))
            : begin.equals(unseen) ? null : unseen;
    return new Found(jobs, next, left.isEmpty());
  }

  /** Adds what one read of a queue finds; returns whether there may be more behind it. */
  private boolean read(Part part, List<JobView> found, StoreCalls calls) {
    JobState state = wanted.state().stored();
    Listed<Cursor> listed =
        engine.operations().jobs(part.queue, state, newestFirst, cursor(part), part.page);
    calls.count(listed.calls());
    for (JobView job : listed.jobs()) {
      // Those that are due stand in front of the others.
      if (!isWanted(job.at()) || (wanted.state() == JobFilter.State.READY && !job.ready())) {
        return false;
      }
      if (wanted.failed().matches(job)) {
        found.add(job);
      }
    }
    Cursor next = listed.next();
    if (next == null || !isWanted(next.score())) {
      return false;
    }
    part.read = new Place(next.score(), part.queue.toString(), next.taskId());
    part.from = part.read;
    part.page = Math.min(JobStore.MAX_JOBS, MORE_EACH_READ * part.page);
    return true;
  }

  /** Whether jobs of that time are wanted, unless they stand in front of where a page begins. */
  private boolean isWanted(long at) {
    return newestFirst ? at >= wanted.from() : at <= wanted.until();
  }

  /** The place in front of all jobs of a time. */
  private Place inFront(long at) {
    return new Place(at, "", newestFirst ? EVERY_ID : NO_ID);
  }

  /**
   * Of jobs with the same time, those of the queues in front of a place were listed, all of them.
   */
  private Cursor cursor(Part part) {
    int queues = part.queue.toString().compareTo(part.read.queue());
    if (queues == 0) {
      return new Cursor(part.read.at(), part.read.taskId());
    }
    return new Cursor(part.read.at(), queues < 0 == newestFirst ? NO_ID : EVERY_ID);
  }

  /** Returns whether enough were found that stand before a place. */
  private boolean isFull(List<JobView> found, int most, Place place) {
    return found.size() >= most
        && found.stream().filter(job -> order.compare(Place.of(job), place) <= 0).count() >= most;
  }
}
