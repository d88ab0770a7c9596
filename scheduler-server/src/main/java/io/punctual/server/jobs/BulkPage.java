package io.punctual.server.jobs;

import io.punctual.core.Engine;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.Requeued;
import io.punctual.core.store.Restored;
import io.punctual.core.store.Revised;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.query.JobView;
import io.punctual.server.jobs.BulkOperation.Action;
import io.punctual.server.jobs.BulkOperation.Item;
import io.punctual.server.jobs.BulkOperation.Page;
import io.punctual.server.jobs.JobSelection.CancelledIn;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Caller;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One page of an operation on many jobs: done and told, or only foreseen. */
final class BulkPage {

  private static final String REFUSED = "refused";
  private static final String UNCONFIRMED = "unconfirmed";

  private final BulkOperation operation;
  private final Engine engine;
  private final Action action;
  private final JobSelection jobs;
  private final @Nullable Due due;
  private final boolean dry;
  private final List<Item> items = new ArrayList<>();
  private List<QueueName> damaged = List.of();
  private @Nullable Long dueAt;
  private @Nullable StoreException failure;

  /**
   * @param due the new due time; only to reschedule
   * @param dry whether nothing is changed
   */
  BulkPage(BulkOperation operation, JobSelection jobs, @Nullable Due due, boolean dry) {
    this.operation = operation;
    this.engine = operation.engine;
    this.action = operation.action;
    this.jobs = jobs;
    this.due = due;
    this.dry = dry;
  }

  /**
   * Deals with the page.
   *
   * @param limit most jobs
   * @param cursor where the operation goes on; null to begin
   * @param calls what a search may still ask of the store
   * @throws ApiException 400 for a cursor of another operation
   * @throws StoreException if the jobs could not be read; then nothing was changed
   */
  Page page(int limit, @Nullable String cursor, StoreCalls calls) {
    boolean read = false;
    try {
      String next =
          switch (jobs) {
            case JobFilter filter -> matching(filter, limit, cursor, calls);
            case JobIds ids -> named(ids, limit, cursor);
            case CancelledIn kept -> kept(kept, limit, cursor, calls);
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
    operation.tell(
        jobs,
        why == null ? outcomes.toString() : outcomes + ", then: " + why.getMessage(),
        items.size());
  }

  private @Nullable String matching(
      JobFilter filter, int limit, @Nullable String cursor, StoreCalls calls) {
    String fingerprint = fingerprint(filter);
    SearchPlace place = cursor == null ? null : SearchPlace.parse(fingerprint, cursor);
    JobSearch.Page found = operation.search.find(filter, place, limit, calls);
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

  private @Nullable String kept(
      CancelledIn cancelled, int limit, @Nullable String cursor, StoreCalls calls) {
    String fingerprint = cancelled.fingerprint();
    SearchPlace place = cursor == null ? null : SearchPlace.parse(fingerprint, cursor);
    JobSearch.KeptPage found = operation.search.find(cancelled, place, limit, calls);
    damaged = found.damaged();
    for (JobSearch.Kept job : found.jobs()) {
      restore(cancelled, job);
      if (failure != null) {
        return (place != null ? place : SearchPlace.beginning(job.queue())).text(fingerprint);
      }
    }
    SearchPlace next = found.next();
    return next == null ? null : next.text(fingerprint);
  }

  private void restore(CancelledIn cancelled, JobSearch.Kept job) {
    String taskId = job.item().taskId();
    String outcome;
    try {
      outcome =
          switch (job.item().outcome()) {
            case UNDONE -> "already_restored";
            case RESTORED ->
                dry
                    ? "restored"
                    : outcome(
                        engine.operations().restore(job.queue(), taskId, cancelled.operation()));
            default -> text(job.item().outcome());
          };
    } catch (StoreException e) {
      outcome = failed(e);
    }
    items.add(new Item(job.queue(), taskId, outcome));
  }

  /** The cursor is the number of ids that are dealt with. */
  private @Nullable String named(JobIds ids, int limit, @Nullable String cursor) {
    int from = cursor == null ? 0 : Integer.parseInt(cursor);
    int to = Math.min(ids.ids().size(), from + limit);
    for (String id : ids.ids().subList(from, to)) {
      act(ids.queue(), id, () -> engine.find(ids.queue(), id).orElse(null));
      if (failure != null) {
        return cursor;
      }
    }
    return to == ids.ids().size() ? null : Integer.toString(to);
  }

  private @Nullable Long instant(long begun) {
    return due == null ? null : Long.valueOf(due.relative() ? begun + due.millis() : due.millis());
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
    return e.kind() == StoreException.Kind.REFUSED ? REFUSED : UNCONFIRMED;
  }

  /** Returns whether an outcome is that of the job at which its page failed. */
  static boolean isOpen(String outcome) {
    return outcome.equals(REFUSED) || outcome.equals(UNCONFIRMED);
  }

  private String foreseen(JobView job) {
    return switch (action) {
      case CANCEL -> waiting(job, "cancelled");
      case RESCHEDULE -> waiting(job, "rescheduled");
      case REQUEUE -> job.state() == JobState.DEAD ? "requeued" : state(job);
      case PURGE -> isPurgeable(job) ? "purged" : state(job);
      case RESTORE -> restorable(job);
    };
  }

  private static String restorable(JobView job) {
    return switch (job.state()) {
      case CANCELLED -> job.restorableUntil() == null ? "not_kept" : "restored";
      case FINISHED -> "finished";
      default -> job.cancelling() ? "restored" : "exists";
    };
  }

  private String done(JobView job) {
    QueueName queue = job.queue();
    String taskId = job.taskId();
    return switch (action) {
      case CANCEL ->
          outcome(
              engine
                  .operations()
                  .cancel(
                      queue,
                      taskId,
                      null,
                      /* interrupt= */ false,
                      Caller.current().submitter(),
                      operation.getUndoId()));
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
      case RESTORE -> outcome(engine.operations().restore(queue, taskId));
    };
  }

  private String now(QueueName queue, String taskId) {
    return engine.find(queue, taskId).map(BulkPage::state).orElse("unknown");
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
    return text(cancelled.kind());
  }

  private static String outcome(Restored restored) {
    return text(restored.kind());
  }

  private static String text(Enum<?> kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }

  private static String outcome(Revised revised) {
    return revised.kind() == Revised.Kind.REVISED
        ? "rescheduled"
        : revised.kind().name().toLowerCase(Locale.ROOT);
  }

  private String fingerprint(JobFilter filter) {
    String time = due == null ? "" : (due.relative() ? "in " : "at ") + due.millis();
    return filter.fingerprint() + " " + action.text() + " " + time;
  }
}
