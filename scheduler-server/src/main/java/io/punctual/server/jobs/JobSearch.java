package io.punctual.server.jobs;

import io.punctual.core.Engine;
import io.punctual.core.Operations;
import io.punctual.core.Operations.Listed;
import io.punctual.core.Operations.TagCursor;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.query.Undoable;
import io.punctual.server.jobs.JobSelection.CancelledIn;
import io.punctual.server.problem.ApiException;
import io.punctual.wire.Limits;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Finds jobs by a filter, page by page, queue by queue. A page costs a bounded number of calls to
 * the store; where they do not suffice it ends early, with a cursor.
 */
@Component
public class JobSearch {

  private final Engine engine;
  private final Operations operations;

  JobSearch(Engine engine) {
    this.engine = engine;
    this.operations = engine.operations();
  }

  /**
   * A page of what was found.
   *
   * @param next where to go on; null at the end. There may be more even if nothing was found
   * @param damaged queues that could not be read; none where the filter names a queue
   */
  public record Found(List<JobView> jobs, @Nullable String next, List<QueueName> damaged) {}

  /**
   * Finds jobs: without a tag by due time, lease deadline or time of death in each queue, with a
   * tag by id in each bucket.
   *
   * @param cursor where to go on; null for the beginning
   * @param max most jobs
   * @param calls what the request may still ask of the store
   * @throws ApiException 400 for a cursor of another filter
   * @throws StoreException CORRUPT if the filter names a queue and its keys are damaged
   */
  public Found find(JobFilter filter, @Nullable String cursor, int max, StoreCalls calls) {
    SearchPlace place = cursor == null ? null : SearchPlace.parse(filter.fingerprint(), cursor);
    return find(filter, place, max, calls).found(filter.fingerprint());
  }

  /** A page, with the place behind it. */
  record Page(List<JobView> jobs, @Nullable SearchPlace next, List<QueueName> damaged) {

    private Found found(String fingerprint) {
      return new Found(jobs, next == null ? null : next.text(fingerprint), damaged);
    }
  }

  Page find(JobFilter filter, @Nullable SearchPlace place, int max, StoreCalls calls) {
    List<JobView> found = new ArrayList<>();
    List<QueueName> damaged = new ArrayList<>();
    List<QueueName> queues = queues(filter, place);
    for (int i = 0; i < queues.size(); i++) {
      QueueName queue = queues.get(i);
      SearchPlace begun =
          place != null && place.queue().equals(queue) ? place : SearchPlace.beginning(queue);
      SearchPlace next;
      try {
        next =
            filter.tag() == null
                ? byState(filter, begun, found, max, calls)
                : byTag(filter, begun, found, max, calls);
      } catch (StoreException e) {
        if (e.kind() != StoreException.Kind.CORRUPT || filter.queue() != null) {
          throw e;
        }
        damaged.add(queue);
        calls.count(1);
        next = null;
      }
      if (next != null) {
        return new Page(found, next, damaged);
      } else if (i + 1 < queues.size() && (found.size() == max || calls.areUsedUp())) {
        return new Page(found, SearchPlace.beginning(queues.get(i + 1)), damaged);
      }
    }
    return new Page(found, null, damaged);
  }

  /** A job that an operation cancelled. */
  record Kept(QueueName queue, Undoable.Item item) {}

  /** A page of what is kept of the jobs that an operation cancelled, with the place behind it. */
  record KeptPage(List<Kept> jobs, @Nullable SearchPlace next, List<QueueName> damaged) {}

  KeptPage find(CancelledIn jobs, @Nullable SearchPlace place, int max, StoreCalls calls) {
    List<Kept> found = new ArrayList<>();
    List<QueueName> damaged = new ArrayList<>();
    for (QueueName queue : queues(jobs.queue(), jobs::covers, place)) {
      if (found.size() == max || calls.areUsedUp()) {
        return new KeptPage(found, SearchPlace.beginning(queue), damaged);
      }
      Cursor after = place != null && place.queue().equals(queue) ? place.cursor() : null;
      try {
        after = addKept(jobs, queue, after, found, max, calls);
      } catch (StoreException e) {
        if (e.kind() != StoreException.Kind.CORRUPT || jobs.queue() != null) {
          throw e;
        }
        damaged.add(queue);
        calls.count(1);
        after = null;
      }
      if (after != null) {
        return new KeptPage(found, SearchPlace.behind(queue, after), damaged);
      }
    }
    return new KeptPage(found, null, damaged);
  }

  /** Adds what is found in one queue; returns where to go on in it, or null at its end. */
  private @Nullable Cursor addKept(
      CancelledIn jobs,
      QueueName queue,
      @Nullable Cursor after,
      List<Kept> found,
      int max,
      StoreCalls calls) {
    Cursor next = after;
    do {
      // Most that are looked at may be those of other operations: whole pages cost no more calls.
      Operations.Kept kept = operations.undoable(queue, jobs.operation(), next, JobStore.MAX_JOBS);
      calls.count(kept.calls());
      for (Undoable.Item item : kept.items()) {
        if (found.size() == max) {
          return next;
        }
        found.add(new Kept(queue, item));
        next = item.place();
      }
      next = kept.next();
    } while (next != null && found.size() < max && !calls.areUsedUp());
    return next;
  }

  private List<QueueName> queues(JobFilter filter, @Nullable SearchPlace place) {
    return queues(filter.queue(), filter::covers, place);
  }

  private List<QueueName> queues(
      @Nullable QueueName only, Predicate<QueueName> covers, @Nullable SearchPlace place) {
    if (only != null) {
      return List.of(only);
    }
    return engine.queues().keySet().stream()
        .filter(covers)
        .filter(queue -> place == null || queue.compareTo(place.queue()) >= 0)
        .sorted()
        .toList();
  }

  /** Adds what is found in one queue; returns where to go on in it, or null at its end. */
  private @Nullable SearchPlace byState(
      JobFilter filter, SearchPlace begun, List<JobView> found, int max, StoreCalls calls) {
    JobFilter.State state = filter.state();
    if (state == null) {
      throw new IllegalArgumentException("a filter without tag has a state");
    }
    Cursor after = begun.cursor();
    if (after == null && filter.from() != null) {
      // Behind every id of the moment before.
      after = new Cursor(filter.from() - 1, "~".repeat(Limits.MAX_NAME + 1));
    }
    // What is asked for by its failures may be one of many thousands: whole pages cost no more
    // calls.
    boolean rare = !filter.failed().isAny();
    do {
      int page = Math.min(JobStore.MAX_JOBS, rare ? JobStore.MAX_JOBS : max - found.size());
      Listed<Cursor> listed = operations.jobs(begun.queue(), state.stored(), after, page);
      calls.count(listed.calls());
      for (int i = 0; i < listed.jobs().size(); i++) {
        JobView job = listed.jobs().get(i);
        if ((filter.until() != null && job.at() > filter.until())
            || (state == JobFilter.State.READY && !job.ready())) {
          return null;
        }
        if (filter.matches(job)) {
          found.add(job);
        }
        boolean last = i + 1 == listed.jobs().size() && listed.next() == null;
        if (found.size() == max && !last) {
          return SearchPlace.behind(begun.queue(), new Cursor(job.at(), job.taskId()));
        }
      }
      after = listed.next();
    } while (after != null && !calls.areUsedUp());
    return after == null ? null : SearchPlace.behind(begun.queue(), after);
  }

  private @Nullable SearchPlace byTag(
      JobFilter filter, SearchPlace begun, List<JobView> found, int max, StoreCalls calls) {
    String tag = filter.tag();
    if (tag == null) {
      throw new IllegalArgumentException("a search by tag must name a tag");
    }
    TagCursor after = begun.tagCursor();
    do {
      Listed<TagCursor> listed =
          operations.tagged(
              begun.queue(), tag, after, Math.min(JobStore.MAX_JOBS, max - found.size()));
      calls.count(listed.calls());
      listed.jobs().stream().filter(filter::matches).forEach(found::add);
      after = listed.next();
    } while (after != null && found.size() < max && !calls.areUsedUp());
    return after == null ? null : SearchPlace.behind(begun.queue(), after);
  }
}
