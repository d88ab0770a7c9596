package io.punctual.server.jobs;

import io.punctual.core.Engine;
import io.punctual.core.job.Due;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.StoreException;
import io.punctual.server.audit.AuditLog;
import io.punctual.server.history.History;
import io.punctual.server.history.Mark;
import io.punctual.server.jobs.JobSelection.CancelledIn;
import io.punctual.server.operation.OperationRecord;
import io.punctual.server.problem.ApiException;
import io.punctual.server.problem.Failures;
import io.punctual.server.security.Caller;
import io.punctual.server.text.Printable;
import io.punctual.server.text.PrintableException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An operation on many jobs, from its preview to its end: cancels, reschedules, requeues, purges or
 * restores them, a page at a time. It takes the jobs as they were when its first page began: a job
 * that was submitted, or failed, or died since is left alone, and so is one that the operation has
 * moved already. The audit has its beginning and its end, and the log each page, whether it ends
 * well or not; of a page that a caller asks for itself, the audit has the page.
 */
public final class BulkOperation {

  private static final Logger log = LoggerFactory.getLogger(BulkOperation.class);
  private static final int PAGE = 200;
  private static final int MAX_NAMED = 3;
  private static final String NOT_KEPT = "not_kept";
  // Pages of fewer jobs are everyday work of applications.
  private static final int MARKED = 100;
  private static final int MAX_SHOWN = 50;
  // Of one preview. So many calls read 400,000 jobs, or look at 2,000 buckets.
  private static final int MAX_COUNTED = 100_000;
  private static final int MAX_CALLS = 2_000;
  // A cancel of more jobs than these begins once their number was typed.
  private static final int LARGE = 1_000;

  /** What is done to the jobs. */
  public enum Action {
    /** Waiting jobs will never run. */
    CANCEL,
    /** Waiting jobs get another due time. */
    RESCHEDULE,
    /** Dead letters wait again. */
    REQUEUE,
    /** Waiting jobs and dead letters are removed for good. */
    PURGE,
    /** Cancelled jobs are as they were before. */
    RESTORE;

    /** The state of the jobs where a caller names neither a state nor a tag; null for none. */
    public JobFilter.@Nullable State usualState() {
      return switch (this) {
        case CANCEL, RESCHEDULE -> JobFilter.State.DELAYED;
        case REQUEUE -> JobFilter.State.DEAD;
        case PURGE, RESTORE -> null;
      };
    }

    /** Returns the outcome of a job to which it was done. */
    String done() {
      return switch (this) {
        case CANCEL -> "cancelled";
        case RESCHEDULE -> "rescheduled";
        case REQUEUE -> "requeued";
        case PURGE -> "purged";
        case RESTORE -> "restored";
      };
    }

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** How far it is. */
  public enum State {
    PREVIEW,
    WAITING,
    RUNNING,
    DONE,
    STOPPED,
    FAILED,
    /** Its scheduler ended before it. */
    INTERRUPTED
  }

  /** What became of one job. */
  public record Item(QueueName queue, String taskId, String outcome) {}

  /**
   * What became of a page.
   *
   * @param items one for each job that was dealt with
   * @param dueAt the new due time of a reschedule, epoch ms; null where there is none
   * @param next the cursor of the next page; null at the end. After a failure, that of this page
   * @param damaged queues that could not be searched; none where the filter names a queue
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
   * What would become of the jobs.
   *
   * @param items the first jobs, at most {@value #MAX_SHOWN}
   * @param queues the number of jobs by outcome, for each queue that has any
   * @param more whether there are, or may be, jobs that were not looked at
   * @param damaged queues that could not be searched; none where the filter names a queue
   */
  public record Preview(
      List<Item> items,
      SortedMap<QueueName, SortedMap<String, Integer>> queues,
      boolean more,
      List<QueueName> damaged) {

    /** The number of jobs by outcome. */
    public Map<String, Integer> outcomes() {
      Map<String, Integer> outcomes = new TreeMap<>();
      queues.values().forEach(some -> some.forEach((o, n) -> outcomes.merge(o, n, Integer::sum)));
      return outcomes;
    }

    /** Returns how many jobs match, as far as they were looked at. */
    public int matched() {
      return sum(outcomes());
    }
  }

  private static int sum(Map<String, Integer> outcomes) {
    return outcomes.values().stream().mapToInt(Integer::intValue).sum();
  }

  /**
   * How far an operation is.
   *
   * @param perSecond jobs a second; 0 for as fast as it goes
   * @param operator the name of the operator that began it last; empty before
   * @param begun when it began last; null before
   * @param ended when it ended last; null before
   * @param outcomes the number of jobs by outcome, since it began first
   * @param error why it failed or was stopped; null if nobody has to know
   */
  public record Progress(
      State state,
      int perSecond,
      String operator,
      @Nullable Instant begun,
      @Nullable Instant ended,
      Map<String, Integer> outcomes,
      @Nullable String error) {

    /** Returns whether no page is under way, nor will be one unless it is begun. */
    public boolean over() {
      return state != State.WAITING && state != State.RUNNING;
    }

    /** Returns how many jobs were dealt with. */
    public int matched() {
      return sum(outcomes);
    }

    private Progress with(State next) {
      return new Progress(next, perSecond, operator, begun, ended, outcomes, error);
    }

    private Progress with(Map<String, Integer> sums) {
      return new Progress(state, perSecond, operator, begun, ended, sums, error);
    }

    private Progress ended(State how, Instant when, @Nullable String why) {
      return new Progress(how, perSecond, operator, begun, when, outcomes, why);
    }
  }

  final Engine engine;
  final JobSearch search;
  final AuditLog audit;
  private final History history;
  final Action action;
  private final String id = UUID.randomUUID().toString();
  private final @Nullable String undoId;
  private final List<JobSelection> jobs;
  private final @Nullable Due due;
  // Where it goes on; of the one thread that runs it.
  private final Deque<JobSelection> left;
  private @Nullable Due time;
  private @Nullable String cursor;
  // The jobs of a page that failed, and their outcomes: the page is done again.
  private final Map<JobRef, String> repeated = new HashMap<>();
  private final Set<QueueName> leftOut = new TreeSet<>();
  private final List<String> searches;
  private final String when;
  private volatile Progress progress =
      new Progress(State.PREVIEW, 0, "", null, null, Map.of(), null);
  private volatile @Nullable Preview seen;
  // How many jobs matched when it began last; null without a preview.
  private volatile @Nullable Integer total;
  private volatile boolean more;
  private volatile CountDownLatch stop = new CountDownLatch(1);
  private volatile boolean interrupted;

  /** An operation with an id, by which it is kept. */
  BulkOperation(
      Engine engine,
      JobSearch search,
      AuditLog audit,
      History history,
      Action action,
      List<? extends JobSelection> jobs,
      @Nullable Due due,
      List<String> searches,
      String when) {
    this(engine, search, audit, history, action, jobs, due, searches, when, true, null);
  }

  /** An operation of a caller, whose cancels can be undone together if the caller names it. */
  BulkOperation(
      Engine engine,
      JobSearch search,
      AuditLog audit,
      History history,
      Action action,
      JobSelection jobs,
      @Nullable Due due,
      @Nullable String undoId) {
    this(engine, search, audit, history, action, List.of(jobs), due, List.of(), "", false, undoId);
  }

  private BulkOperation(
      Engine engine,
      JobSearch search,
      AuditLog audit,
      History history,
      Action action,
      List<? extends JobSelection> jobs,
      @Nullable Due due,
      List<String> searches,
      String when,
      boolean own,
      @Nullable String undoId) {
    if ((action == Action.RESCHEDULE) != (due != null)) {
      throw new IllegalArgumentException("a due time belongs to a reschedule, and to no other");
    }
    this.engine = engine;
    this.search = search;
    this.audit = audit;
    this.history = history;
    this.action = action;
    this.jobs = List.copyOf(jobs);
    this.due = due;
    this.left = new ArrayDeque<>(jobs);
    this.time = due;
    this.searches = List.copyOf(searches);
    this.when = when;
    this.undoId = own ? id : undoId;
  }

  /**
   * Does a page of the first jobs, for a caller that asks for each page itself. A failure of the
   * store in the middle is no exception, but said by the page.
   *
   * @param dry whether to say only what the page would do
   * @param limit most jobs, 1 to {@value BulkOperations#MAX_PAGE}
   * @param cursor where the operation goes on; null to begin
   * @throws ApiException 400 for a cursor of another operation
   * @throws StoreException if the jobs could not be read; then nothing was changed
   */
  public Page page(boolean dry, int limit, @Nullable String cursor) {
    return page(jobs.get(0), due, dry, limit, cursor, StoreCalls.ofRequest());
  }

  private Page page(
      JobSelection some,
      @Nullable Due time,
      boolean dry,
      int limit,
      @Nullable String cursor,
      StoreCalls calls) {
    return new BulkPage(this, some, time, dry).page(limit, cursor, calls);
  }

  /**
   * Says what would become of the jobs now, and changes nothing.
   *
   * @throws StoreException if they cannot be read
   */
  public Preview preview() {
    Preview found = look();
    seen = found;
    return found;
  }

  private Preview look() {
    List<Item> shown = new ArrayList<>();
    SortedMap<QueueName, SortedMap<String, Integer>> queues = new TreeMap<>();
    Set<QueueName> damaged = new TreeSet<>();
    // Two searches may find the same job.
    Set<JobRef> known = new HashSet<>();
    int matched = 0;
    StoreCalls calls = StoreCalls.upTo(MAX_CALLS);
    for (JobSelection some : jobs) {
      String next = null;
      do {
        if (matched >= MAX_COUNTED || calls.areUsedUp()) {
          return new Preview(shown, queues, true, List.copyOf(damaged));
        }
        Page page = page(some, due, /* dry= */ true, BulkOperations.MAX_PAGE, next, calls);
        StoreException failure = page.failure();
        if (failure != null) {
          throw failure;
        }
        for (Item item : page.items()) {
          if (jobs.size() == 1 || known.add(new JobRef(item.queue(), item.taskId()))) {
            matched++;
            queues
                .computeIfAbsent(item.queue(), any -> new TreeMap<>())
                .merge(item.outcome(), 1, Integer::sum);
            if (shown.size() < MAX_SHOWN) {
              shown.add(item);
            }
          }
        }
        damaged.addAll(page.damaged());
        next = page.next();
      } while (next != null);
    }
    return new Preview(shown, queues, false, List.copyOf(damaged));
  }

  /** Returns to how many jobs it would be done, as the last preview had it. */
  public int getNumber() {
    Preview last = seen;
    return (last == null ? preview() : last).outcomes().getOrDefault(action.done(), 0);
  }

  /**
   * Returns whether it begins only once that number was typed: a purge, or a cancel of more than
   * {@value #LARGE} jobs.
   */
  public boolean isNumberTyped() {
    if (action != Action.CANCEL) {
      return action == Action.PURGE;
    }
    int number = getNumber();
    Preview last = seen;
    return number > LARGE || (last != null && last.more());
  }

  /**
   * Notes that the operation begins, or goes on after it was stopped or failed.
   *
   * @return false if it is under way or done
   */
  synchronized boolean begins(int perSecond, Instant now) {
    Progress before = progress;
    if (isBegun()) {
      return false;
    }
    stop = new CountDownLatch(1);
    interrupted = false;
    Preview last = seen;
    seen = null;
    int dealt = before.matched();
    Integer cancelled = getCancelled();
    // What was moved or checked is counted again.
    total =
        cancelled != null
            ? cancelled
            : last == null || (action == Action.RESCHEDULE && dealt > 0)
                ? null
                : Integer.valueOf(last.matched() + (getChecked().isEmpty() ? dealt : 0));
    more = cancelled == null && last != null && last.more();
    progress =
        new Progress(
            State.WAITING, perSecond, Caller.current().name(), now, null, before.outcomes(), null);
    return true;
  }

  /** Does all pages, at the speed that was said, until they are done or stopped. */
  void run(InstantSource clock) {
    progress = progress.with(State.RUNNING);
    try {
      int perSecond = progress.perSecond();
      int size = perSecond == 0 ? PAGE : Math.min(PAGE, perSecond);
      long pause = 0;
      while (!left.isEmpty()) {
        if (stop.await(pause, TimeUnit.MILLISECONDS)) {
          ends(interrupted ? State.INTERRUPTED : State.STOPPED, clock.instant(), null);
          return;
        }
        Page page =
            page(left.getFirst(), time, /* dry= */ false, size, cursor, StoreCalls.ofRequest());
        count(page);
        StoreException failure = page.failure();
        if (failure != null) {
          throw failure;
        }
        leftOut.addAll(page.damaged());
        cursor = page.next();
        // A delay is one instant for the whole operation: the one that its first jobs got. The
        // cursor of a search is of one time.
        if (page.dueAt() != null && (cursor == null || left.getFirst() instanceof JobIds)) {
          time = Due.at(page.dueAt());
        }
        if (cursor == null) {
          left.removeFirst();
        }
        pause = perSecond == 0 ? 0 : 1_000L * page.items().size() / perSecond;
      }
      countMissing();
      ends(State.DONE, clock.instant(), leftOut());
    } catch (InterruptedException e) {
      ends(State.INTERRUPTED, clock.instant(), null);
      Thread.currentThread().interrupt();
    } catch (Throwable e) {
      // Also an Error: an operation that says nothing more would look as if it were under way.
      ends(
          State.FAILED,
          clock.instant(),
          e instanceof RuntimeException known
              ? Failures.of(known).getMessage()
              : String.valueOf(e.getMessage()));
      log.warn(
          "A bulk operation ({} {}) failed; the log has what it did",
          action,
          Printable.of(words()),
          PrintableException.of(e));
    }
  }

  private @Nullable String leftOut() {
    return leftOut.isEmpty()
        ? null
        : "queues left out because their keys in Redis are damaged: "
            + some(leftOut.stream().map(QueueName::toString).toList());
  }

  /** Counts the jobs of a page; of one that is done again, each once. */
  private void count(Page page) {
    Map<String, Integer> sums = new TreeMap<>(progress.outcomes());
    for (Item item : page.items()) {
      JobRef job = new JobRef(item.queue(), item.taskId());
      String before = repeated.get(job);
      if (before == null || BulkPage.isOpen(before)) {
        sums.merge(item.outcome(), 1, Integer::sum);
        repeated.put(job, item.outcome());
      }
      if (before != null && BulkPage.isOpen(before)) {
        sums.computeIfPresent(before, (any, count) -> count == 1 ? null : count - 1);
      }
    }
    progress = progress.with(sums);
    if (page.failure() == null) {
      repeated.clear();
    }
  }

  /** Counts the cancelled jobs of which nothing is kept, so that no page had them. */
  private void countMissing() {
    int missing = getMissing(progress.matched());
    if (missing > 0) {
      Map<String, Integer> sums = new TreeMap<>(progress.outcomes());
      sums.merge(NOT_KEPT, missing, Integer::sum);
      progress = progress.with(sums);
    }
  }

  /** Writes down that it begins, or goes on. */
  void tellBegin() {
    history.mark(Mark.Kind.BULK, action.text() + " " + words());
    Progress begun = progress;
    audit.operated(
        many(),
        words(),
        "begun"
            + (when.isEmpty() ? "" : ", to " + when)
            + (begun.perSecond() == 0 ? "" : ", " + begun.perSecond() + " jobs a second")
            + (begun.matched() == 0 ? "" : ", after " + begun.matched() + " jobs"),
        id);
  }

  /** Writes down what became of a page. */
  void tell(JobSelection some, String outcomes, int matched) {
    if (progress.begun() == null) {
      audit.did(many(), some::text, null, outcomes);
      if (matched >= MARKED) {
        history.mark(Mark.Kind.BULK, action.text() + " " + some.text());
      }
    } else {
      audit.passed(many(), some.text(), outcomes, id);
    }
  }

  private String many() {
    return action.text() + " many";
  }

  /** What found the jobs: the searches as they were typed, or the jobs that were checked. */
  private String words() {
    return searches.isEmpty() || !getChecked().isEmpty()
        ? jobs.stream().map(JobSelection::text).collect(Collectors.joining(" | "))
        : String.join(" | ", searches);
  }

  private void ends(State how, Instant when, @Nullable String why) {
    Progress last = progress;
    try {
      audit.operated(
          many(),
          words(),
          how.name().toLowerCase(Locale.ROOT)
              + ", "
              + last.matched()
              + " jobs"
              + (last.outcomes().isEmpty() ? "" : " " + last.outcomes())
              + (why == null ? "" : ": " + why),
          id);
    } finally {
      progress = last.ended(how, when, why);
    }
  }

  /** Ends it after the page that is under way; what is done stays done. */
  public void stop() {
    stop.countDown();
  }

  /** Ends it in the same way because its scheduler ends. */
  void interrupt() {
    interrupted = true;
    stop();
  }

  /** Returns what all schedulers may know of it. */
  OperationRecord record(Progress now, String scheduler) {
    List<String> checked = getChecked().stream().map(JobRef::toString).toList();
    return new OperationRecord(
        id,
        action.text(),
        getAbout(),
        checked.isEmpty() ? searches : List.of(),
        checked,
        0,
        when,
        now.operator(),
        scheduler,
        now.perSecond(),
        String.valueOf(now.begun()),
        now.ended() == null ? null : now.ended().toString(),
        now.state().name().toLowerCase(Locale.ROOT),
        total,
        more,
        now.outcomes(),
        now.error(),
        getUndoes(),
        0);
  }

  public String getId() {
    return id;
  }

  public Action getAction() {
    return action;
  }

  /** Returns the id by which an undo finds its cancels; null if they cannot be undone together. */
  @Nullable String getUndoId() {
    return undoId;
  }

  /** The operation whose cancels it undoes; null for none. */
  public @Nullable String getUndoes() {
    return jobs.size() == 1 && jobs.get(0) instanceof CancelledIn undone
        ? undone.operation()
        : null;
  }

  /** How many jobs the operation cancelled that is undone; null if that is not known. */
  public @Nullable Integer getCancelled() {
    return jobs.size() == 1 && jobs.get(0) instanceof CancelledIn undone
        ? undone.cancelled()
        : null;
  }

  /** Returns how many of the cancelled jobs are no longer kept, if that many are. */
  public int getMissing(int kept) {
    Integer cancelled = getCancelled();
    return cancelled == null ? 0 : Math.max(0, cancelled - kept);
  }

  /** The words that found the jobs, as they were typed. */
  public List<String> getSearches() {
    return searches;
  }

  /** The new due time as it was typed; empty where there is none. */
  public String getWhen() {
    return when;
  }

  /** The jobs that were named one by one; none where filters find them. */
  public List<JobRef> getChecked() {
    return jobs.stream()
        .flatMap(some -> some instanceof JobIds ids ? ids.refs().stream() : Stream.empty())
        .toList();
  }

  /** The queues and tags, as far as a line holds them. */
  public String getAbout() {
    List<String> all = jobs.stream().map(BulkOperation::about).distinct().toList();
    return some(all);
  }

  private static String some(List<String> all) {
    return String.join(", ", all.subList(0, Math.min(MAX_NAMED, all.size())))
        + (all.size() > MAX_NAMED ? ", …" : "");
  }

  private static String about(JobSelection some) {
    return switch (some) {
      case JobFilter filter when filter.application() == null -> filter.text();
      case JobFilter filter ->
          filter.application()
              + (filter.taskType() == null ? "" : "/" + filter.taskType())
              + (filter.tag() == null ? "" : " tag:" + filter.tag());
      case JobIds ids -> ids.queue().toString();
      case CancelledIn undone -> undone.about().isEmpty() ? undone.text() : undone.about();
    };
  }

  /** Returns whether it is under way or done, so that it cannot begin. */
  public boolean isBegun() {
    Progress now = progress;
    return !now.over() || now.state() == State.DONE;
  }

  public Progress getProgress() {
    return progress;
  }
}
