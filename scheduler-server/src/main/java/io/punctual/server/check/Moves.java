package io.punctual.server.check;

import static io.punctual.server.check.CommandProbes.time;

import io.punctual.DelayQueueJob;
import io.punctual.core.Delivery;
import io.punctual.core.Engine;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.Schedules;
import io.punctual.core.Submit;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.core.schedule.Recurrence;
import io.punctual.core.schedule.ScheduleDefinition;
import io.punctual.core.schedule.ScheduleName;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Settled;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.query.JobView;
import io.punctual.schedule.Fold;
import io.punctual.schedule.Gap;
import io.punctual.schedule.Missed;
import io.punctual.schedule.WhileRunning;
import io.punctual.server.check.Table.Result;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;

/** Moves jobs of a queue through the engine, from submit to every end. */
final class Moves {

  /** Queues have so many: ids that are numbers are spread by them. */
  static final int BUCKETS = 2;

  static final Duration LEASE = Duration.ofSeconds(1);
  private static final long QUIET_MS = 300;
  private static final long PATIENCE_S = 10;
  private static final String APP = "punctual-check";
  private static final QueueName JOBS = new QueueName(APP, "jobs");
  private static final QueueName LIMITED = new QueueName(APP, "limited");
  private static final QueueName RECURRING = new QueueName(APP, "recurring");
  static final QueueName PULLED = new QueueName(APP, "pulled");

  private final Engine engine;
  private final JobStore store;
  private final Inbox inbox;
  private final Table table;

  Moves(Engine engine, JobStore store, Inbox inbox, Table table) {
    this.engine = engine;
    this.store = store;
    this.inbox = inbox;
    this.table = table;
  }

  /** The buckets of all queues that it uses. */
  static Set<Bucket> buckets() {
    Set<Bucket> buckets = new HashSet<>();
    for (QueueName queue : List.of(JOBS, LIMITED, RECURRING, PULLED)) {
      for (int i = 0; i < BUCKETS; i++) {
        buckets.add(new Bucket(queue, i));
      }
    }
    return buckets;
  }

  /** Returns what is worth saying beside that it worked. */
  private interface Move {
    String make() throws InterruptedException, ExecutionException, TimeoutException;
  }

  void all() throws InterruptedException {
    move("submit, find", this::submit);
    move("unique ids", this::uniqueIds);
    move("two buckets", this::twoBuckets);
    move("move, revise", this::revise);
    move("tags", this::tags);
    move("cancel", this::cancel);
    move("events", this::events);
    move("claim at the due time", this::claim);
    move("renew a lease", this::renew);
    move("retry", this::retry);
    move("dead letter, requeue", this::deadLetter);
    move("purge", this::purge);
    move("pull, extend", this::pull);
    move("pause, resume", this::pause);
    move("limits", this::limits);
    move("schedules", this::schedules);
  }

  private void move(String name, Move move) throws InterruptedException {
    table.requireGoing();
    long start = System.nanoTime();
    String problem;
    try {
      String detail = move.make();
      table.add(Result.OK, name, (detail + time(start)).strip());
      return;
    } catch (TimeoutException e) {
      problem = "Redis did not answer within " + PATIENCE_S + " s";
    } catch (MoveFailedException | StoreException e) {
      problem = String.valueOf(e.getMessage());
    } catch (ExecutionException | RuntimeException e) {
      problem = CommandProbes.reason(e);
    }
    table.requireGoing();
    table.add(Result.FAIL, name, problem);
  }

  private static void require(String what, Object expected, Object found) {
    if (!expected.equals(found)) {
      throw new MoveFailedException(what + " was " + found + ", expected " + expected);
    }
  }

  private static <T> T get(CompletableFuture<T> future)
      throws InterruptedException, ExecutionException, TimeoutException {
    return future.get(PATIENCE_S, TimeUnit.SECONDS);
  }

  private Submit submit(QueueName queue, String id, UnaryOperator<DelayQueueJob.Builder> details)
      throws InterruptedException, ExecutionException, TimeoutException {
    DelayQueueJob job = details.apply(DelayQueueJob.of(queue.taskType()).taskId(id)).build();
    return get(engine.submit(APP, job, false));
  }

  private Submit later(String id)
      throws InterruptedException, ExecutionException, TimeoutException {
    return submit(JOBS, id, job -> job.delay(Duration.ofHours(1)).params("first").tag("order-1"));
  }

  private Submit now(QueueName queue, String id)
      throws InterruptedException, ExecutionException, TimeoutException {
    return submit(queue, id, job -> job.delay(Duration.ZERO));
  }

  private JobView found(String id) {
    return engine
        .find(JOBS, id)
        .orElseThrow(() -> new MoveFailedException("job " + id + " was not found"));
  }

  private void requireState(String id, JobState state) {
    require("state of job " + id, state, found(id).state());
  }

  private void done(Delivery delivery)
      throws InterruptedException, ExecutionException, TimeoutException {
    var unused = get(delivery.done());
  }

  private String submit() throws InterruptedException, ExecutionException, TimeoutException {
    Submit answer = later("1");
    require("answer to a submit", "CREATED", answer.kind().name());
    requireState("1", JobState.DELAYED);
    return "acknowledged as durable: " + answer.reached();
  }

  private String uniqueIds() throws InterruptedException, ExecutionException, TimeoutException {
    require("answer to the same submit", "ALREADY_THERE", later("1").kind().name());
    Submit other = submit(JOBS, "1", job -> job.delay(Duration.ofHours(1)).params("other"));
    require("answer to another job of that id", "CONFLICT", other.kind().name());
    return "";
  }

  private String twoBuckets() throws InterruptedException, ExecutionException, TimeoutException {
    var unused = later("2");
    for (int i = 0; i < BUCKETS; i++) {
      String id = Integer.toString(2 - i);
      Optional<JobView> found = store.find(new Bucket(JOBS, i), id);
      require("job " + id + " in bucket " + i, true, found.isPresent());
    }
    int listed = engine.operations().jobs(JOBS, JobState.DELAYED, null, 10).jobs().size();
    require("jobs of the queue", 2, listed);
    String first = store.node(new Bucket(JOBS, 0));
    String second = store.node(new Bucket(JOBS, 1));
    return first.equals(second) ? "" : "on " + first + " and " + second;
  }

  private String revise() {
    var unused = engine.operations().revise(JOBS, "1", Due.in(7_200_000), null, null);
    JobView moved = found("1");
    require("due later", true, moved.at() > moved.now() + 3_600_000);
    require(
        "answer to a new content",
        "REVISED",
        engine
            .operations()
            .revise(JOBS, "1", null, old -> JobContent.of(Due.in(0)).params("second").build(), null)
            .kind()
            .name());
    require("content", "second", Objects.requireNonNull(found("1").content()).params());
    return "";
  }

  private String tags() {
    List<JobView> tagged = engine.operations().tagged(JOBS, "order-1", null, 10).jobs();
    require("jobs with the tag", List.of("2"), tagged.stream().map(JobView::taskId).toList());
    return "";
  }

  private String cancel() throws InterruptedException, ExecutionException, TimeoutException {
    require(
        "answer to a cancel",
        "CANCELLED",
        engine.operations().cancel(JOBS, "1", null).kind().name());
    requireState("1", JobState.CANCELLED);
    require("submit of a cancelled id", "CREATED", later("1").kind().name());
    return "";
  }

  private String events() throws InterruptedException, ExecutionException, TimeoutException {
    var unused =
        submit(JOBS, "3", job -> job.delay(Duration.ofHours(1)).cancelOn("order.paid", "1"));
    var done = engine.operations().event(APP, new DelayQueueJob.Event("order.paid", "1"));
    require("jobs that the event reached", 1, done.items().size());
    requireState("3", JobState.CANCELLED);
    return "";
  }

  private String claim() throws InterruptedException, ExecutionException, TimeoutException {
    var unused = submit(JOBS, "4", job -> job.delay(Duration.ofMillis(500)));
    Delivery delivery = inbox.next(JOBS);
    require("job", "4", delivery.taskId());
    requireState("4", JobState.RESERVED);
    done(delivery);
    requireState("4", JobState.FINISHED);
    Submit again = submit(JOBS, "4", job -> job.delay(Duration.ofMillis(500)));
    require("submit of a finished id", "ALREADY_DONE", again.kind().name());
    return (delivery.claimedAt() - delivery.dueTime()) + " ms after it";
  }

  private String renew() throws InterruptedException, ExecutionException, TimeoutException {
    var unused = now(JOBS, "5");
    Delivery delivery = inbox.next(JOBS);
    long passing = LEASE.toMillis() * 3 / 2;
    require("delivered twice", Optional.empty(), Optional.ofNullable(inbox.within(JOBS, passing)));
    require("lease held", true, delivery.leaseHeld());
    done(delivery);
    requireState("5", JobState.FINISHED);
    return "held for " + passing + " ms with a lease of " + LEASE.toMillis() + " ms";
  }

  private String retry() throws InterruptedException, ExecutionException, TimeoutException {
    Object unused = now(JOBS, "6");
    unused =
        get(
            inbox
                .next(JOBS)
                .failed(new ErrorNote("check", "to be retried"), Duration.ofMillis(100)));
    Delivery second = inbox.next(JOBS);
    require("attempt", 2, second.attempt());
    done(second);
    return "";
  }

  private String deadLetter() throws InterruptedException, ExecutionException, TimeoutException {
    Object unused = now(JOBS, "7");
    unused = get(inbox.next(JOBS).rejected(new ErrorNote("check", "never again")));
    requireState("7", JobState.DEAD);
    require(
        "answer to a requeue",
        "REQUEUED",
        engine.operations().requeue(JOBS, "7", null).kind().name());
    done(inbox.next(JOBS));
    requireState("7", JobState.FINISHED);
    return "";
  }

  private String purge() throws InterruptedException, ExecutionException, TimeoutException {
    var unused = later("8");
    require("purged", true, engine.operations().purge(JOBS, JobState.DELAYED, "8"));
    require("found after the purge", false, engine.find(JOBS, "8").isPresent());
    return "";
  }

  private String pull() throws InterruptedException, ExecutionException, TimeoutException {
    Object unused = submit(PULLED, "1", job -> job.delay(Duration.ofHours(1)));
    PullRequest request =
        new PullRequest(List.of(PULLED), 1, Duration.ofSeconds(5), Duration.ofSeconds(5), "check");
    CompletableFuture<List<PulledJob>> pulled = engine.claims().pull(request);
    unused = engine.operations().revise(PULLED, "1", Due.in(0), null, null);
    List<PulledJob> jobs = get(pulled);
    require("jobs that a waiting pull got", 1, jobs.size());
    require("extended", true, engine.claims().extend(jobs.get(0).token(), LEASE).isPresent());
    Settled ended = get(engine.claims().done(jobs.get(0).token()));
    require("answer to done", Settled.Kind.DONE, ended.kind());
    return "";
  }

  private String pause() throws InterruptedException, ExecutionException, TimeoutException {
    Object unused = engine.operations().pause(JOBS, true);
    unused = now(JOBS, "9");
    boolean quiet = inbox.within(JOBS, QUIET_MS) == null;
    unused = engine.operations().pause(JOBS, false);
    require("nothing is delivered while paused", true, quiet);
    done(inbox.next(JOBS));
    return "";
  }

  private String limits() throws InterruptedException, ExecutionException, TimeoutException {
    Object unused = submit(LIMITED, "0", job -> job.delay(Duration.ofHours(1)));
    // A job at once for each bucket.
    engine.operations().limit(LIMITED, new Throttle(BUCKETS, null));
    unused = now(LIMITED, "2");
    unused = now(LIMITED, "4");
    Delivery first = inbox.next(LIMITED);
    require(
        "a second one at once",
        Optional.empty(),
        Optional.ofNullable(inbox.within(LIMITED, QUIET_MS)));
    done(first);
    done(inbox.next(LIMITED));
    return "";
  }

  private String schedules() throws InterruptedException, ExecutionException, TimeoutException {
    ScheduleName name = new ScheduleName(RECURRING, "every-second");
    ScheduleDefinition everySecond =
        new ScheduleDefinition(
            new Recurrence(
                null,
                Duration.ofSeconds(1),
                Instant.EPOCH,
                ZoneOffset.UTC,
                Gap.SHIFT,
                Fold.FIRST,
                null,
                null,
                Set.of()),
            Missed.LATEST,
            null,
            WhileRunning.START,
            Duration.ZERO,
            JobContent.of(Due.in(0)).build());
    Schedules schedules = engine.schedules();
    require("answer", Schedules.Put.CREATED, schedules.put(name, everySecond, 10).outcome());
    try {
      Delivery delivery = inbox.next(RECURRING);
      require("its job", true, delivery.taskId().startsWith("every-second@"));
      done(delivery);
      return (delivery.claimedAt() - delivery.dueTime()) + " ms after the planned instant";
    } finally {
      var unused = schedules.delete(name);
    }
  }
}
