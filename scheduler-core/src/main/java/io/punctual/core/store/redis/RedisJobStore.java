package io.punctual.core.store.redis;

import io.punctual.core.job.AttemptCounts;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.Ending;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.Opening;
import io.punctual.core.job.Pause;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.Claim;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.store.ClockJump;
import io.punctual.core.store.Expired;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Lease;
import io.punctual.core.store.Paused;
import io.punctual.core.store.Requeue;
import io.punctual.core.store.Requeued;
import io.punctual.core.store.Restored;
import io.punctual.core.store.Revised;
import io.punctual.core.store.Revision;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Submission;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.query.BucketStats;
import io.punctual.core.store.query.BucketUsage;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.Forecast;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.query.Page;
import io.punctual.core.store.query.Stamps;
import io.punctual.core.store.query.Tagged;
import io.punctual.core.store.query.Undoable;
import io.punctual.core.store.redis.script.Arguments;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.Reply;
import io.punctual.core.store.redis.script.ScriptRunner;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Runs one script for each transition, and checks the bounds that the scripts rely on. */
final class RedisJobStore implements JobStore {

  private static final Pattern OWNER = Pattern.compile("[!-~]{1,128}");

  private static final String OPEN = "open ";

  private final ScriptRunner scripts;
  private final Duration tombstones;

  RedisJobStore(ScriptRunner scripts, Duration tombstones) {
    this.scripts = scripts;
    this.tombstones = tombstones;
  }

  @Override
  public String node(Bucket bucket) {
    return scripts.node(bucket);
  }

  @Override
  public Submitted submit(Bucket bucket, List<Submission> jobs) {
    Arguments arguments =
        new Arguments(2 + 4 * jobs.size())
            .add(scripts.keys().wakeUpChannel())
            .add(Keys.name(bucket));
    for (Submission job : bounded(jobs)) {
      Due due = job.due();
      arguments
          .add(job.taskId())
          .add((due.relative() ? "+" : "") + due.millis())
          .add(Records.rule(job.onConflict()) + Records.tags(job.tags()))
          .add(
              Records.record(
                  job.incarnation(),
                  job.maxAttempts(),
                  job.timeToRun(),
                  job.origin(),
                  job.tags(),
                  job.content()));
    }
    Reply reply = scripts.runDurably("submit", bucket, arguments);
    long now = reply.number(0);
    List<Submitted.Item> items = new ArrayList<>(jobs.size());
    for (Submission job : jobs) {
      items.add(created(job, now));
    }
    for (Reply item : reply.listsFrom(2)) {
      items.set(
          item.small(0),
          new Submitted.Item(
              Submitted.Kind.valueOf(item.word(1)),
              item.number(2),
              item.small(3),
              Records.jobOrNull(item.bytes(4)),
              Records.version(item.number(5), item.text(6))));
    }
    return new Submitted(now, items, reply.numberOrNull(1), reply.reached());
  }

  private static Submitted.Item created(Submission job, long now) {
    return new Submitted.Item(
        Submitted.Kind.CREATED,
        job.due().millis() + (job.due().relative() ? now : 0),
        0,
        null,
        new JobVersion(job.incarnation(), 1));
  }

  @Override
  public Claim claim(
      Bucket bucket, int max, Duration lease, ClaimMode mode, LeaseToken token, String owner) {
    if (!OWNER.matcher(owner).matches()) {
      throw new IllegalArgumentException(
          "the owner of a lease must be 1 to 128 printable characters without spaces");
    }
    Reply reply =
        scripts.run(
            "claim",
            bucket,
            new Arguments()
                .add(bounded(max))
                .add(MAX_CLAIMED_BYTES)
                .add(positive(lease).toMillis())
                .add(mode.name().toLowerCase(Locale.ROOT))
                .add(token.value())
                .add(owner));
    List<ClaimedJob> jobs = new ArrayList<>();
    for (int i = 7; i < reply.size(); i += 4) {
      AttemptCounts tries = Records.tries(reply.text(i + 3));
      jobs.add(
          new ClaimedJob(
              reply.text(i),
              reply.number(i + 1),
              tries.attempts() + 1,
              Records.job(reply.bytes(i + 2)),
              tries,
              token));
    }
    String hours = reply.text(6);
    boolean open = hours.startsWith(OPEN);
    return new Claim(
        reply.number(0),
        jobs,
        reply.list(5).textsFrom(0),
        reply.numberOrNull(1),
        reply.numberOrNull(2),
        reply.numberOrNull(3),
        reply.small(4) == 1,
        reply.small(4) == 2,
        !open && !hours.isEmpty(),
        open || hours.isEmpty() || hours.equals("closed") ? null : hours,
        open ? Long.parseLong(hours.substring(OPEN.length())) : 0);
  }

  @Override
  public List<Settled> settle(Bucket bucket, List<Settlement> settlements) {
    Arguments arguments =
        new Arguments(3 + 4 * settlements.size())
            .add(tombstones.toMillis())
            .add(scripts.keys().wakeUpChannel())
            .add(Keys.name(bucket));
    for (Settlement settlement : bounded(settlements)) {
      arguments
          .add(settlement.op().name().toLowerCase(Locale.ROOT))
          .add(settlement.taskId())
          .add(settlement.incarnation())
          .add(rest(settlement));
    }
    Reply reply = scripts.runEnds("settle", bucket, arguments);
    List<Settled> settled =
        new ArrayList<>(
            Collections.nCopies(
                settlements.size(), new Settled(Settled.Kind.DONE, reply.number(0))));
    for (Reply item : reply.listsFrom(1)) {
      Settled.Kind kind = Settled.Kind.valueOf(item.word(1));
      settled.set(
          item.small(0),
          switch (kind) {
            case DONE -> new Settled(kind, reply.number(0), item.number(2));
            case DEAD, CANCELLED, EXPIRED, DROPPED -> new Settled(kind, 0, item.number(2));
            default -> new Settled(kind, item.number(2));
          });
    }
    return settled;
  }

  private static byte[] rest(Settlement settlement) {
    JobRecord record = settlement.record();
    if (settlement.op() == Settlement.Op.DONE) {
      return Keys.bytes(
          record == null
              ? "," + settlement.token().value()
              : Records.mark(record, settlement.ending()));
    }
    byte[] text =
        Keys.bytes(
            settlement.token().value()
                + " "
                + (settlement.delay() == null ? "-" : settlement.delay().toMillis())
                + (settlement.alone() ? " 1 " : " 0 "));
    return ByteBuffer.allocate(text.length + settlement.note().length)
        .put(text)
        .put(settlement.note())
        .array();
  }

  @Override
  public Extended extend(Bucket bucket, List<Lease> leases, Duration lease) {
    Arguments arguments = new Arguments().add(positive(lease).toMillis());
    for (Lease held : bounded(leases)) {
      arguments.add(held.taskId()).add(held.token().value());
    }
    Reply reply = scripts.run("extend", bucket, arguments);
    Set<String> lost = new HashSet<>();
    Set<String> cancelling = new HashSet<>();
    for (int i = 0; i < leases.size(); i++) {
      switch (reply.text(i + 1)) {
        case "0" -> lost.add(leases.get(i).taskId());
        case "cancelling" -> cancelling.add(leases.get(i).taskId());
        default -> {
          // Extended.
        }
      }
    }
    return new Extended(lost, cancelling);
  }

  @Override
  public Expired expire(Bucket bucket, int max, long until, ClockJump jump) {
    Reply reply =
        scripts.run(
            "expire",
            bucket,
            new Arguments()
                .add(bounded(max))
                .add(scripts.keys().wakeUpChannel())
                .add(Keys.name(bucket))
                .add(until == Long.MAX_VALUE ? "" : Long.toString(until))
                .add(jump.before())
                .add(jump.millis())
                .add(tombstones.toMillis()));
    return new Expired(
        reply.number(0), reply.small(1), reply.small(2), reply.small(3), reply.numberOrNull(4));
  }

  @Override
  public Lapsed lapse(Bucket bucket, int max) {
    Reply reply = scripts.run("lapse", bucket, new Arguments().add(bounded(max)));
    return new Lapsed(reply.number(0), reply.small(1), reply.small(2), reply.small(3) == 1);
  }

  @Override
  public Cancelled cancel(
      Bucket bucket,
      String taskId,
      @Nullable JobVersion seen,
      boolean interrupt,
      @Nullable String by,
      @Nullable String operation) {
    Reply reply =
        scripts.runDurably(
            "cancel",
            bucket,
            new Arguments()
                .add(tombstones.toMillis())
                .add(taskId)
                .add(Records.version(seen))
                .add(interrupt ? "interrupt" : "leave")
                .add(scripts.keys().wakeUpChannel())
                .add(Keys.name(bucket))
                .add(Ending.cancelled(by).text())
                .add(operation == null ? "" : operation(operation)));
    return new Cancelled(
        Cancelled.Kind.valueOf(reply.word(1)), reply.small(2), reply.number(3), reply.reached());
  }

  @Override
  public Restored restore(Bucket bucket, String taskId, @Nullable String operation) {
    Reply reply =
        scripts.runDurably(
            "restore",
            bucket,
            waking(bucket).add(taskId).add(operation == null ? "" : operation(operation)));
    return new Restored(
        Restored.Kind.valueOf(reply.word(1)),
        reply.number(2),
        reply.small(3),
        Records.version(reply.number(5), reply.text(6)),
        reply.numberOrNull(4),
        reply.reached());
  }

  private static String operation(String id) {
    if (!OWNER.matcher(id).matches()) {
      throw new IllegalArgumentException(
          "the id of an operation must be 1 to 128 printable characters without spaces");
    }
    return id;
  }

  @Override
  public Undoable undoable(Bucket bucket, String operation, @Nullable Cursor after, int max) {
    Arguments arguments = new Arguments().add(operation(operation)).add(bounded(max));
    if (after == null) {
      arguments.add("").add("");
    } else {
      arguments.add(after.score()).add(after.taskId());
    }
    Reply reply = scripts.run("undoable", bucket, arguments);
    Reply last = reply.list(1);
    return new Undoable(
        reply.listsFrom(2).stream()
            .map(
                item ->
                    new Undoable.Item(
                        item.text(0), item.number(1), Undoable.Outcome.valueOf(item.word(2))))
            .toList(),
        last.size() == 0 ? null : new Cursor(last.number(0), last.text(1)));
  }

  @Override
  public Revised revise(Bucket bucket, String taskId, Revision revision) {
    Due due = revision.due();
    Revision.NewContent content = revision.content();
    Arguments arguments = waking(bucket).add(taskId).add(Records.version(revision.seen()));
    if (due == null) {
      arguments.add("keep").add(0);
    } else {
      arguments.add(due.relative() ? "in" : "at").add(due.millis());
    }
    if (content == null) {
      arguments.add("").add("");
    } else {
      arguments
          .add(Records.tags(content.tags()))
          .add(
              Records.record(
                  content.incarnation(),
                  content.maxAttempts(),
                  content.timeToRun(),
                  content.origin(),
                  content.tags(),
                  content.content()));
    }
    Reply reply = scripts.runDurably("revise", bucket, arguments);
    return new Revised(
        Revised.Kind.valueOf(reply.word(1)),
        reply.number(2),
        reply.small(3),
        Records.version(reply.number(5), reply.text(6)),
        reply.numberOrNull(4),
        reply.reached());
  }

  @Override
  public Requeued requeue(Bucket bucket, List<Requeue> jobs, Duration delay) {
    Arguments arguments = waking(bucket).add(delay.toMillis());
    bounded(jobs).forEach(job -> arguments.add(job.taskId()).add(Records.version(job.seen())));
    Reply reply = scripts.runDurably("requeue", bucket, arguments);
    return new Requeued(
        reply.listsFrom(2).stream()
            .map(
                item ->
                    new Requeued.Item(
                        Requeued.Kind.valueOf(item.word(0)),
                        Records.version(item.number(1), item.text(2)),
                        reply.reached()))
            .toList(),
        reply.numberOrNull(1));
  }

  @Override
  public int purge(Bucket bucket, JobState state, List<String> taskIds) {
    if (state != JobState.DELAYED && state != JobState.DEAD) {
      throw new IllegalArgumentException("only DELAYED and DEAD can be purged, not " + state);
    }
    Arguments arguments = new Arguments().add(word(state));
    bounded(taskIds).forEach(arguments::add);
    return scripts.runDurably("purge", bucket, arguments).small(1);
  }

  @Override
  public Optional<JobView> find(Bucket bucket, String taskId) {
    Reply reply = scripts.run("find", bucket, new Arguments().add(taskId));
    return reply.size() == 1
        ? Optional.empty()
        : Optional.of(
            Records.view(reply.number(0), bucket.queue(), reply.list(1), reply.numberOrNull(2)));
  }

  @Override
  public Page list(
      Bucket bucket, JobState state, boolean newestFirst, @Nullable Cursor after, int max) {
    if (state == JobState.FINISHED || state == JobState.CANCELLED) {
      throw new IllegalArgumentException(
          "only DELAYED, RESERVED and DEAD can be listed, not " + state);
    }
    Arguments arguments = new Arguments().add(word(state)).add(bounded(max));
    if (after == null) {
      arguments.add("").add("");
    } else {
      arguments.add(after.score()).add(after.taskId());
    }
    arguments.add(newestFirst ? 1 : 0);
    Reply reply = scripts.run("list", bucket, arguments);
    List<JobView> jobs = views(bucket, reply);
    boolean more = reply.text(1).equals("1");
    return new Page(
        jobs,
        more
            ? new Cursor(jobs.get(jobs.size() - 1).at(), jobs.get(jobs.size() - 1).taskId())
            : null);
  }

  @Override
  public Tagged tagged(Bucket bucket, String tag, @Nullable String after, int max) {
    Reply reply =
        scripts.run(
            "tagged",
            bucket,
            new Arguments().add(tag).add(bounded(max)).add(after == null ? "" : after));
    String next = reply.text(1);
    return new Tagged(views(bucket, reply), next.isEmpty() ? null : next);
  }

  @Override
  public void remember(String application, String event, Duration memory) {
    var unused =
        scripts.runDurably(
            "events",
            "events/remember",
            "remember an event of " + application,
            scripts.keys().eventsTag(application),
            scripts.keys().events(application),
            new Arguments().add(event).add(positive(memory).toMillis()));
  }

  @Override
  public Set<String> remembered(String application, Set<String> events) {
    List<String> asked = List.copyOf(events);
    Arguments arguments = new Arguments();
    asked.forEach(arguments::add);
    Reply reply =
        scripts.run(
            "events",
            "events/remembered",
            "read the events of " + application,
            scripts.keys().events(application),
            arguments);
    Set<String> found = new HashSet<>();
    for (int i = 0; i < asked.size(); i++) {
      if (reply.text(i).equals("1")) {
        found.add(asked.get(i));
      }
    }
    return found;
  }

  @Override
  public Paused pause(Bucket bucket, Pause.Scope scope, Pause.@Nullable Terms terms) {
    Reply reply =
        scripts.runDurably(
            "pause",
            bucket,
            waking(bucket)
                .add(scope == Pause.Scope.QUEUE ? "paused" : "application")
                .add(terms == null ? 0 : terms.millis())
                .add(terms == null ? "" : terms.words()));
    return new Paused(reply.numberOrNull(1), reply.numberOrNull(2));
  }

  @Override
  public @Nullable Long limit(Bucket bucket, Throttle throttle) {
    Integer concurrency = throttle.concurrency();
    Throttle.Rate rate = throttle.rate();
    return scripts
        .runDurably(
            "limit",
            bucket,
            waking(bucket)
                .add(concurrency == null ? "" : concurrency.toString())
                .add(rate == null ? "" : rate.jobs() + " " + rate.period().toMillis()))
        .numberOrNull(1);
  }

  @Override
  public void dropExpired(Bucket bucket, boolean drop) {
    var unused = scripts.runDurably("expiry", bucket, new Arguments().add(drop));
  }

  @Override
  public @Nullable Long hours(Bucket bucket, String hours) {
    return scripts.runDurably("hours", bucket, waking(bucket).add(hours)).numberOrNull(1);
  }

  @Override
  public void opening(Bucket bucket, String hours, Opening opening) {
    var unused = scripts.run("opening", bucket, new Arguments().add(hours).add(opening.text()));
  }

  @Override
  public BucketStats stats(Bucket bucket) {
    Reply reply = scripts.run("stats", bucket, new Arguments());
    List<String> pairs = reply.list(13).textsFrom(0);
    Map<String, Long> counters = new TreeMap<>();
    for (int i = 0; i < pairs.size(); i += 2) {
      counters.put(pairs.get(i), Long.valueOf(pairs.get(i + 1)));
    }
    return new BucketStats(
        reply.number(0),
        reply.number(1),
        reply.number(2),
        reply.number(3),
        reply.number(4),
        reply.numberOrNull(5),
        reply.numberOrNull(6),
        pauses(reply.text(7), reply.text(16)),
        Records.throttle(reply.text(8), reply.text(9)),
        reply.text(10).equals("drop"),
        reply.text(11),
        reply.numberOrNull(12),
        counters,
        reply.numberOrNull(14),
        reply.number(15));
  }

  @Override
  public Stamps stamps(List<Bucket> buckets) {
    Reply reply = scripts.stamps(bounded(buckets));
    return new Stamps(reply.number(0), reply.textsFrom(1));
  }

  private static List<Pause> pauses(String own, String application) {
    List<Pause> pauses = new ArrayList<>();
    if (!own.isEmpty()) {
      pauses.add(Pause.parse(Pause.Scope.QUEUE, own));
    }
    if (!application.isEmpty()) {
      pauses.add(Pause.parse(Pause.Scope.APPLICATION, application));
    }
    return List.copyOf(pauses);
  }

  @Override
  public BucketUsage usage(Bucket bucket) {
    Reply reply = scripts.run("usage", bucket, new Arguments());
    return new BucketUsage(reply.number(0), reply.number(1));
  }

  @Override
  public Forecast forecast(Bucket bucket, Duration width, int intervals) {
    Reply reply =
        scripts.run(
            "forecast",
            bucket,
            new Arguments().add(positive(width).toMillis()).add(bounded(intervals)));
    return new Forecast(
        reply.number(0), reply.number(1), reply.textsFrom(2).stream().map(Long::valueOf).toList());
  }

  /** Arguments of a script that may wake schedulers: it publishes the bucket's new head. */
  private Arguments waking(Bucket bucket) {
    return new Arguments().add(scripts.keys().wakeUpChannel()).add(Keys.name(bucket));
  }

  private static List<JobView> views(Bucket bucket, Reply reply) {
    return reply.listsFrom(2).stream()
        .map(job -> Records.view(reply.number(0), bucket.queue(), job, null))
        .toList();
  }

  private static String word(JobState state) {
    return state.name().toLowerCase(Locale.ROOT);
  }

  private static <T> List<T> bounded(List<T> jobs) {
    if (jobs.size() > MAX_JOBS) {
      throw new IllegalArgumentException(
          "at most " + MAX_JOBS + " jobs a call, not " + jobs.size());
    }
    return jobs;
  }

  private static Duration positive(Duration duration) {
    if (duration.toMillis() < 1) {
      throw new IllegalArgumentException("a duration must be 1 ms or longer, not " + duration);
    }
    return duration;
  }

  private static int bounded(int max) {
    if (max < 1 || max > MAX_JOBS) {
      throw new IllegalArgumentException("between 1 and " + MAX_JOBS + " jobs a call, not " + max);
    }
    return max;
  }
}
