package io.punctual.server.jobs;

import io.punctual.core.Engine;
import io.punctual.core.JobView;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.Requeued;
import io.punctual.core.store.Revised;
import io.punctual.core.store.StoreException;
import io.punctual.server.audit.AuditLog;
import io.punctual.server.problem.ApiException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Cancels, reschedules, requeues or purges many jobs, a page at a time. An operation takes the jobs
 * as they were when its first page began: a job that was submitted, or failed, or died since is
 * left alone, and so is one that the operation has moved already. Each page is audited, whether it
 * ends well or not.
 */
@Component
public class BulkOperations {

  /** Most jobs of one page. */
  public static final int MAX_PAGE = 1_000;

  private final Engine engine;
  private final JobSearch search;
  private final AuditLog audit;

  BulkOperations(Engine engine, JobSearch search, AuditLog audit) {
    this.engine = engine;
    this.search = search;
    this.audit = audit;
  }

  /** What is done to the jobs. */
  public enum Action {
    /** Waiting jobs will never run. */
    CANCEL,
    /** Waiting jobs get another due time. */
    RESCHEDULE,
    /** Dead letters wait again. */
    REQUEUE,
    /** Waiting jobs and dead letters are removed for good. */
    PURGE;

    /** The state of the jobs where a caller names neither a state nor a tag; null for none. */
    public JobFilter.@Nullable State usualState() {
      return switch (this) {
        case CANCEL, RESCHEDULE -> JobFilter.State.DELAYED;
        case REQUEUE -> JobFilter.State.DEAD;
        case PURGE -> null;
      };
    }

    private String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * An operation.
   *
   * @param due the new due time; only to reschedule. A delay counts from the beginning of the
   *     operation, for all its jobs
   */
  public record Order(Action action, JobSelection jobs, @Nullable Due due) {

    /** Checks the parts. */
    public Order {
      if ((action == Action.RESCHEDULE) != (due != null)) {
        throw new IllegalArgumentException("a due time belongs to a reschedule, and to no other");
      }
    }

    private String fingerprint(JobFilter filter) {
      String time = due == null ? "" : (due.relative() ? "in " : "at ") + due.millis();
      return filter.fingerprint() + " " + action.word() + " " + time;
    }
  }

  /** What became of one job. */
  public record Item(QueueName queue, String taskId, String outcome) {}

  /**
   * What became of a page.
   *
   * @param items one for each job that was dealt with
   * @param dueAt the new due time of a reschedule, epoch ms; null where there is none
   * @param next the cursor of the next page; null at the end. After a failure, that of this page
   * @param damaged queues that could not be searched; none where the filter names a task type
   * @param failure why the page ended before its end; null if it did not
   */
  public record Page(
      List<Item> items,
      @Nullable Long dueAt,
      @Nullable String next,
      List<QueueName> damaged,
      @Nullable StoreException failure) {

    /** The number of jobs by outcome. */
    public Map<String, Integer> outcomes() {
      Map<String, Integer> outcomes = new TreeMap<>();
      items.forEach(item -> outcomes.merge(item.outcome(), 1, Integer::sum));
      return outcomes;
    }
  }

  /**
   * Says what a page would do to its jobs, and does nothing.
   *
   * @param limit most jobs, 1 to {@value #MAX_PAGE}
   * @throws ApiException 400 for a cursor of another operation
   * @throws StoreException if the jobs could not be read
   */
  public Page preview(Order order, int limit, @Nullable String cursor) {
    return new Run(order, true).page(limit, cursor);
  }

  /**
   * Does a page of an operation. A failure of the store in the middle is no exception, but said by
   * the page.
   *
   * @param limit most jobs, 1 to {@value #MAX_PAGE}; ids are all taken at once
   * @param cursor where the operation goes on; null to begin
   * @throws ApiException 400 for a cursor of another operation
   * @throws StoreException if the jobs could not be read; then nothing was changed
   */
  public Page perform(Order order, int limit, @Nullable String cursor) {
    return new Run(order, false).page(limit, cursor);
  }

  /** One page. */
  private final class Run {

    private final Order order;
    private final boolean dry;
    private final List<Item> items = new ArrayList<>();
    private List<QueueName> damaged = List.of();
    private @Nullable Long dueAt;
    private @Nullable StoreException failure;

    private Run(Order order, boolean dry) {
      this.order = order;
      this.dry = dry;
    }

    private Page page(int limit, @Nullable String cursor) {
      boolean read = false;
      try {
        String next =
            switch (order.jobs()) {
              case JobFilter filter -> matching(filter, limit, cursor);
              case JobIds ids -> named(ids);
            };
        read = true;
        return new Page(List.copyOf(items), dueAt, next, damaged, failure);
      } finally {
        // Also when something went wrong that nothing here knows of.
        if (!dry && (read || !items.isEmpty())) {
          tell();
        }
      }
    }

    private void tell() {
      StoreException why = failure;
      Map<String, Integer> outcomes = new Page(items, null, null, damaged, null).outcomes();
      audit.did(
          order.action().word() + " many",
          () -> order.jobs().toString(),
          null,
          why == null ? outcomes.toString() : outcomes + ", then: " + why.getMessage());
    }

    private @Nullable String matching(JobFilter filter, int limit, @Nullable String cursor) {
      String fingerprint = order.fingerprint(filter);
      SearchPlace place = cursor == null ? null : SearchPlace.parse(fingerprint, cursor);
      JobSearch.Page found = search.find(filter, place, limit, StoreCalls.ofRequest());
      damaged = found.damaged();
      long begun = place == null ? 0 : place.begun();
      if (begun == 0 && !found.jobs().isEmpty()) {
        begun = found.jobs().get(0).now();
      }
      if (begun > 0) {
        dueAt = instant(begun);
      }
      for (JobView job : found.jobs()) {
        if (!isLater(job, begun) && !isMoved(filter, job)) {
          act(job.queue(), job.taskId(), () -> job);
        }
        if (failure != null) {
          SearchPlace again = place != null ? place : SearchPlace.beginning(job.queue());
          return again.begunAt(begun).text(fingerprint);
        }
      }
      SearchPlace next = found.next();
      return next == null ? null : next.begunAt(begun).text(fingerprint);
    }

    /** Whether it is not what it was when the operation began. */
    private static boolean isLater(JobView job, long begun) {
      JobView.Failure last = job.lastFailure();
      return job.acceptedAt() > begun
          || (last != null && last.at() > begun)
          || (job.state() == JobState.DEAD && job.at() > begun);
    }

    /** Whether a search by due time meets it where the operation has put it. */
    private boolean isMoved(JobFilter filter, JobView job) {
      Long there = dueAt;
      return filter.tag() == null
          && there != null
          && job.state() == JobState.DELAYED
          && job.at() == there;
    }

    private @Nullable String named(JobIds ids) {
      for (String id : ids.ids()) {
        act(ids.queue(), id, () -> engine.find(ids.queue(), id).orElse(null));
        if (failure != null) {
          break;
        }
      }
      return null;
    }

    private @Nullable Long instant(long begun) {
      Due due = order.due();
      return due == null
          ? null
          : Long.valueOf(due.relative() ? begun + due.millis() : due.millis());
    }

    /** Finds a job that may be gone. */
    private interface Find {
      @Nullable JobView job();
    }

    private void act(QueueName queue, String taskId, Find find) {
      String outcome;
      try {
        JobView job = find.job();
        if (job == null) {
          outcome = "unknown";
        } else {
          if (dueAt == null) {
            dueAt = instant(job.now());
          }
          outcome = dry ? foreseen(job) : done(job);
        }
      } catch (StoreException e) {
        outcome = failed(e);
      }
      items.add(new Item(queue, taskId, outcome));
    }

    /** Damage is one bucket's; what else is wrong with the store is so for the next job, too. */
    private String failed(StoreException e) {
      if (e.kind() == StoreException.Kind.CORRUPT) {
        return "damaged";
      }
      failure = e;
      return e.kind() == StoreException.Kind.REFUSED ? "refused" : "unconfirmed";
    }

    private String foreseen(JobView job) {
      return switch (order.action()) {
        case CANCEL -> waiting(job, "cancelled");
        case RESCHEDULE -> waiting(job, "rescheduled");
        case REQUEUE -> job.state() == JobState.DEAD ? "requeued" : state(job);
        case PURGE -> isPurgeable(job) ? "purged" : state(job);
      };
    }

    private String done(JobView job) {
      QueueName queue = job.queue();
      String taskId = job.taskId();
      return switch (order.action()) {
        case CANCEL -> outcome(engine.operations().cancel(queue, taskId, null));
        case RESCHEDULE ->
            outcome(
                engine
                    .operations()
                    .revise(queue, taskId, Due.at(Objects.requireNonNull(dueAt)), null, null));
        case REQUEUE ->
            engine.operations().requeue(queue, taskId, null).kind() == Requeued.Kind.REQUEUED
                ? "requeued"
                : now(queue, taskId);
        case PURGE ->
            isPurgeable(job) && engine.operations().purge(queue, job.state(), taskId)
                ? "purged"
                : now(queue, taskId);
      };
    }

    private String now(QueueName queue, String taskId) {
      return engine.find(queue, taskId).map(Run::state).orElse("unknown");
    }

    private static boolean isPurgeable(JobView job) {
      return job.state() == JobState.DEAD || job.state() == JobState.DELAYED;
    }

    private static String waiting(JobView job, String done) {
      return switch (job.state()) {
        case DELAYED -> done;
        case RESERVED -> "in_delivery";
        default -> state(job);
      };
    }

    private static String state(JobView job) {
      return job.state().name().toLowerCase(Locale.ROOT);
    }

    private static String outcome(Cancelled cancelled) {
      return cancelled.kind().name().toLowerCase(Locale.ROOT);
    }

    private static String outcome(Revised revised) {
      return revised.kind() == Revised.Kind.REVISED
          ? "rescheduled"
          : revised.kind().name().toLowerCase(Locale.ROOT);
    }
  }
}
