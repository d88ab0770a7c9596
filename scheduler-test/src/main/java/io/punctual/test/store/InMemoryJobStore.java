package io.punctual.test.store;

import io.punctual.conflict.OnConflict;
import io.punctual.core.job.AttemptCounts;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.Ending;
import io.punctual.core.job.IndexTags;
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
import io.punctual.core.store.durability.Reached;
import io.punctual.core.store.query.BucketStats;
import io.punctual.core.store.query.BucketUsage;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.Forecast;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.query.Page;
import io.punctual.core.store.query.Stamps;
import io.punctual.core.store.query.Tagged;
import io.punctual.core.store.query.Undoable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The state machine in memory. Its rules are those of docs/state-machine.md, written down a second
 * time without looking at the scripts' way of doing it: where the two disagree, one of them is
 * wrong.
 */
public final class InMemoryJobStore implements JobStore {

  private final LongSupplier clock;
  private final long retention;
  private final Map<Bucket, MemoryBucket> buckets = new HashMap<>();
  // By application and event: when it is forgotten.
  private final Map<String, Long> events = new HashMap<>();

  /**
   * @param clock epoch ms
   * @param tombstones how long a finished or cancelled id is remembered
   */
  public InMemoryJobStore(LongSupplier clock, Duration tombstones) {
    this.clock = clock;
    this.retention = tombstones.toMillis();
  }

  /** Forgets everything. */
  public synchronized void clear() {
    buckets.clear();
    events.clear();
  }

  /** The bucket's complete contents. */
  public synchronized BucketContents contents(Bucket bucket) {
    return of(bucket).contents();
  }

  /** Makes a job's record vanish, as no script ever does. */
  public synchronized void loseRecord(Bucket bucket, String taskId) {
    of(bucket).jobs.remove(taskId);
  }

  private MemoryBucket of(Bucket bucket) {
    return buckets.computeIfAbsent(bucket, b -> new MemoryBucket());
  }

  @Override
  public synchronized Submitted submit(Bucket bucket, List<Submission> jobs) {
    MemoryBucket b = of(bucket);
    long now = clock.getAsLong();
    Long before = b.delayed.first();
    List<Submitted.Item> items = new ArrayList<>();
    for (Submission job : jobs) {
      items.add(submit(b, job, now));
    }
    return new Submitted(now, items, newHead(b, before));
  }

  private Submitted.Item submit(MemoryBucket b, Submission job, long now) {
    String id = job.taskId();
    long due = job.due().relative() ? now + job.due().millis() : job.due().millis();
    JobState state = b.stateOf(id);
    JobRecord record = b.jobs.get(id);
    OnConflict.Rule rule = job.onConflict().rule();
    boolean replace = rule == OnConflict.Rule.REPLACE;
    boolean merges = !replace && rule != OnConflict.Rule.REFUSE;
    if (state == null) {
      MemoryBucket.Tomb tomb = merges ? null : b.liveTomb(id, now);
      // A cancelled occurrence of a schedule stays cancelled.
      if (tomb != null && (tomb.finished() || id.contains("@"))) {
        if (tomb.hash().equals(MemoryBucket.hash(job.content()))) {
          return item(Submitted.Kind.ALREADY_DONE, tomb.at(), null);
        }
        if (!replace) {
          return item(Submitted.Kind.CONFLICT_DONE, tomb.at(), null);
        }
      }
      b.dropTomb(id);
      b.store(job, due, now);
      return item(Submitted.Kind.CREATED, due, new JobVersion(job.incarnation(), 1));
    }
    MemoryBucket.HeldLease lease = b.leases.get(id);
    long at =
        state == JobState.RESERVED && lease != null
            ? lease.due()
            : b.set(state).getOrDefault(id, 0L);
    JobVersion version = b.job(id, state);
    if (merges) {
      return merge(b, job, state, at, due, now);
    }
    if (record != null && Arrays.equals(record.content(), job.content())) {
      return item(Submitted.Kind.ALREADY_THERE, at, version);
    }
    if (!replace) {
      return new Submitted.Item(Submitted.Kind.CONFLICT, at, 0, record, version);
    }
    if (state == JobState.RESERVED) {
      return new Submitted.Item(
          Submitted.Kind.IN_DELIVERY, 0, lease == null ? 0 : lease.attempt(), null, version);
    }
    return takePlace(b, job, state, due, now, Submitted.Kind.REPLACED);
  }

  private static Submitted.Item takePlace(
      MemoryBucket b, Submission job, JobState state, long due, long now, Submitted.Kind kind) {
    String id = job.taskId();
    long version = b.version(id, state) + 1;
    b.dead.remove(id);
    b.tries.put(id, AttemptCounts.of(due, version));
    b.errors.remove(id);
    b.next.remove(id);
    b.store(job, due, now);
    return item(kind, due, new JobVersion(job.incarnation(), version));
  }

  /**
   * A submit that adds no second waiting job. A job runs from its first attempt until it ends, and
   * what is debounced need not wait for its retry.
   */
  private static Submitted.Item merge(
      MemoryBucket b, Submission job, JobState state, long at, long due, long now) {
    String id = job.taskId();
    OnConflict.Rule rule = job.onConflict().rule();
    Duration atMost = job.onConflict().atMost();
    JobRecord record = b.jobs.get(id);
    AttemptCounts t = b.tries.getOrDefault(id, AttemptCounts.NONE);
    boolean waitsForRetry = state == JobState.DELAYED && t.attempts() > 0;
    if (state == JobState.DEAD) {
      return takePlace(b, job, state, due, now, Submitted.Kind.REPLACED);
    }
    if (rule == OnConflict.Rule.DROP) {
      return item(Submitted.Kind.MERGED, at, b.job(id, state));
    }
    if (state == JobState.RESERVED || (waitsForRetry && atMost == null)) {
      boolean stays = rule == OnConflict.Rule.QUEUE_ONE || rule == OnConflict.Rule.DEBOUNCE_FIRST;
      MemoryBucket.Successor successor =
          new MemoryBucket.Successor(
              atMost != null, atMost != null ? job.due().millis() : due, job);
      MemoryBucket.Successor there = b.next.get(id);
      if (there == null || !stays) {
        b.next.put(id, successor);
      } else {
        successor = there;
      }
      return item(Submitted.Kind.MERGED, successor.dueAt(now), b.job(id, state));
    }
    if (waitsForRetry || record == null) {
      return takePlace(b, job, state, due, now, Submitted.Kind.MERGED);
    }
    long merged = rule == OnConflict.Rule.QUEUE_ONE ? at : due;
    if (atMost != null) {
      merged = Math.min(due, record.acceptedAt() + atMost.toMillis());
      if (t.undeliverable() > 0) {
        merged = Math.max(merged, at);
      }
    }
    boolean older = rule == OnConflict.Rule.QUEUE_ONE || rule == OnConflict.Rule.DEBOUNCE_FIRST;
    if (older) {
      // Its tags stay in the index as they are: lapse may have taken out the one of its latest
      // start.
      b.jobs.put(
          id,
          new JobRecord(
              job.incarnation(),
              record.maxAttempts(),
              record.acceptedAt(),
              record.timeToRun(),
              record.origin(),
              record.tags(),
              record.content()));
    } else {
      b.put(id, MemoryBucket.accepted(job, record.acceptedAt()));
    }
    b.delayed.put(id, merged);
    boolean moves = rule != OnConflict.Rule.QUEUE_ONE;
    long firstDue = moves || t.version() == 1 ? merged : t.firstDue();
    b.tries.put(id, MemoryBucket.changed(t, firstDue, moves ? 0 : t.attemptDue()));
    if (moves) {
      b.next.remove(id);
    }
    return item(Submitted.Kind.MERGED, merged, new JobVersion(job.incarnation(), t.version() + 1));
  }

  private static Submitted.Item item(Submitted.Kind kind, long due, @Nullable JobVersion version) {
    return new Submitted.Item(kind, due, 0, null, version);
  }

  private static @Nullable Long newHead(MemoryBucket b, @Nullable Long before) {
    Long after = b.delayed.first();
    return after != null && (before == null || after < before) ? after : null;
  }

  @Override
  public synchronized Claim claim(
      Bucket bucket, int max, Duration lease, ClaimMode mode, LeaseToken token, String owner) {
    MemoryBucket b = of(bucket);
    long now = clock.getAsLong();
    Quota quota = Quota.of(b, now);
    List<Pause> pauses = b.pauses(now);
    if (!pauses.isEmpty()) {
      Long end = Pause.end(pauses);
      Long next = end == null ? null : next(b, quota, 0, now);
      return new Claim(
          now,
          List.of(),
          List.of(),
          next == null || end == null ? null : Long.valueOf(Math.max(next, end)),
          b.reserved.first(),
          pauses.get(0).since(),
          isFull(b));
    }
    Long closedUntil = b.closedUntil(now);
    if (closedUntil != null) {
      Long next = next(b, quota, 0, now);
      return new Claim(
          now,
          List.of(),
          List.of(),
          next == null ? null : Long.valueOf(Math.max(next, closedUntil)),
          b.reserved.first(),
          null,
          isFull(b),
          /* held= */ false,
          /* closed= */ true,
          closedUntil == 0 ? b.hours : null,
          0);
    }
    List<ClaimedJob> jobs = new ArrayList<>();
    List<String> corrupt = new ArrayList<>();
    int bytes = 0;
    for (Map.Entry<String, Long> entry : b.delayed.earliest(now, Math.min(max, quota.jobs()))) {
      String id = entry.getKey();
      JobRecord record = b.jobs.get(id);
      bytes += record == null ? 0 : MemoryBucket.record(record).length();
      if (bytes > MAX_CLAIMED_BYTES && jobs.size() + corrupt.size() > 0) {
        break;
      }
      if (record == null) {
        b.buryCorrupt(id, now);
        corrupt.add(id);
        continue;
      }
      AttemptCounts tries = b.tries.getOrDefault(id, AttemptCounts.NONE);
      int attempt = tries.attempts() + 1;
      b.delayed.remove(id);
      long length =
          mode == ClaimMode.OWN && record.timeToRun() > 0 ? record.timeToRun() : lease.toMillis();
      b.reserved.put(id, now + length);
      b.leases.put(
          id,
          new MemoryBucket.HeldLease(
              record.incarnation(),
              token.value(),
              attempt,
              countsAtItsEnd(mode, tries),
              now,
              entry.getValue(),
              tries.version() + 1,
              owner,
              /* cancelling= */ false,
              null));
      jobs.add(new ClaimedJob(id, entry.getValue(), attempt, record, tries, token));
    }
    if (quota.interval() > 0 && jobs.size() + corrupt.size() > 0) {
      b.evenly = now * 1000 + quota.ahead() + jobs.size() * quota.interval();
    }
    Long head = b.delayed.first();
    Long next = next(b, quota, jobs.size(), now);
    boolean full = isFull(b);
    return new Claim(
        now,
        jobs,
        corrupt,
        next,
        b.reserved.first(),
        null,
        full,
        !full && head != null && head <= now && next != null && next > now,
        /* closed= */ false,
        null,
        b.openSince(now));
  }

  /** Whether the attempt counts if its lease runs out; null until a pull is received. */
  private static @Nullable Boolean countsAtItsEnd(ClaimMode mode, AttemptCounts tries) {
    return switch (mode) {
      case PUSH -> tries.suspect();
      case SENT -> false;
      case OWN, GIVEN -> null;
    };
  }

  /**
   * What the bounds of a bucket allow now.
   *
   * @param interval us between two jobs at the bucket's rate; 0 if it has none
   * @param burst us by which jobs may go out ahead of that
   * @param ahead us by which they have
   */
  private record Quota(int jobs, long interval, long burst, long ahead) {

    static Quota of(MemoryBucket b, long now) {
      long jobs = Integer.MAX_VALUE;
      Integer concurrency = b.throttle.concurrency();
      if (concurrency != null) {
        jobs = Math.max(0, concurrency - b.reserved.size());
      }
      Throttle.Rate rate = b.throttle.rate();
      if (rate == null) {
        return new Quota((int) jobs, 0, 0, 0);
      }
      long period = rate.period().toMillis();
      long interval = Math.max(1, period * 1000 / rate.jobs());
      long burst = Math.max(interval, Math.min(period, 1000) * 1000);
      long evenly = b.evenly == null ? 0 : b.evenly;
      long ahead = Math.max(0, Math.min(burst, evenly - now * 1000));
      return new Quota((int) Math.min(jobs, (burst - ahead) / interval), interval, burst, ahead);
    }
  }

  private static boolean isFull(MemoryBucket b) {
    Integer concurrency = b.throttle.concurrency();
    return concurrency != null && b.reserved.size() >= concurrency;
  }

  private static @Nullable Long next(MemoryBucket b, Quota quota, int claimed, long now) {
    Long next = b.delayed.first();
    if (next != null && quota.interval() > 0) {
      long ahead = quota.ahead() + claimed * quota.interval();
      long micros = quota.burst() - ahead - quota.interval();
      next = Math.max(next, now - Math.floorDiv(micros, 1000L));
    }
    return next != null && isFull(b) ? Long.valueOf(Math.max(next, now + 1000)) : next;
  }

  @Override
  public synchronized @Nullable Long limit(Bucket bucket, Throttle throttle) {
    MemoryBucket b = of(bucket);
    b.throttle = throttle;
    b.evenly = null;
    return b.delayed.first();
  }

  @Override
  public synchronized List<Settled> settle(Bucket bucket, List<Settlement> settlements) {
    MemoryBucket b = of(bucket);
    long now = clock.getAsLong();
    List<Settled> results = new ArrayList<>();
    for (Settlement settlement : settlements) {
      results.add(
          settlement.op() == Settlement.Op.DONE
              ? ack(b, settlement, now)
              : settle(b, settlement, now));
    }
    if (results.stream()
        .anyMatch(
            result ->
                result.kind() == Settled.Kind.DONE || result.kind() == Settled.Kind.CANCELLED)) {
      b.trimTombs(now, 32 + 2 * settlements.size());
    }
    if (results.stream().anyMatch(result -> result.kind() == Settled.Kind.CANCELLED)) {
      b.trimKept(now, settlements.size());
    }
    return results;
  }

  private Settled ack(MemoryBucket b, Settlement settlement, long now) {
    String id = settlement.taskId();
    JobRecord record = b.jobs.get(id);
    JobRecord known = settlement.record();
    MemoryBucket.HeldLease lease = b.leases.get(id);
    if (known != null
        && lease != null
        && b.reserved.containsKey(id)
        && lease.incarnation().equals(settlement.incarnation())) {
      b.untag(id, known.tags());
      record = known;
    } else if (record == null || !record.incarnation().equals(settlement.incarnation())) {
      MemoryBucket.Tomb tomb = b.liveTomb(id, now);
      boolean already =
          tomb != null && tomb.finished() && tomb.incarnation().equals(settlement.incarnation());
      return new Settled(already ? Settled.Kind.ALREADY_DONE : Settled.Kind.UNKNOWN, 0);
    }
    Ending ending = known != null ? settlement.ending() : ending(b, settlement, record);
    b.forget(id);
    b.bury(record, id, now, retention, true, ending);
    b.count("done");
    Long successor = b.succeed(id, 0, now);
    return new Settled(Settled.Kind.DONE, now, successor == null ? 0 : successor);
  }

  /** What the lease says of an attempt, if it is that of the token. */
  private static @Nullable Ending ending(MemoryBucket b, Settlement settlement, JobRecord record) {
    String id = settlement.taskId();
    MemoryBucket.HeldLease lease = b.leases.get(id);
    if (lease == null
        || !b.reserved.containsKey(id)
        || !lease.token().equals(settlement.token().value())) {
      return null;
    }
    long attemptDue = b.tries.getOrDefault(id, AttemptCounts.NONE).attemptDue();
    long due = attemptDue == 0 ? lease.due() : Math.min(lease.due(), attemptDue);
    long since = Math.max(Math.max(due, record.acceptedAt()), b.openSince(lease.claimedAt()));
    boolean sent = Boolean.FALSE.equals(lease.counts());
    return new Ending(
        lease.attempt(),
        lease.claimedAt(),
        Math.max(0, lease.claimedAt() - since),
        sent ? null : lease.owner());
  }

  private Settled settle(MemoryBucket b, Settlement settlement, long now) {
    String id = settlement.taskId();
    JobRecord record = b.jobs.get(id);
    MemoryBucket.HeldLease lease = b.leases.get(id);
    if (record == null
        || lease == null
        || !record.incarnation().equals(settlement.incarnation())
        || !b.reserved.containsKey(id)
        || !lease.token().equals(settlement.token().value())) {
      return new Settled(Settled.Kind.LEASE_LOST, 0);
    } else if (lease.cancelling()) {
      Long successor = b.endCancelled(id, record, now, retention);
      return new Settled(Settled.Kind.CANCELLED, 0, successor == null ? 0 : successor);
    }
    Duration delay = settlement.delay();
    Long next = delay == null ? null : now + delay.toMillis();
    switch (settlement.op()) {
      case RELEASED, RETURNED -> {
        long due =
            settlement.op() == Settlement.Op.RETURNED
                ? lease.due()
                : Objects.requireNonNull(next, "the delay");
        b.count("released");
        b.giveBack(id, lease, due);
        return new Settled(Settled.Kind.RETRY, due);
      }
      case FAILED, UNKNOWN, UNDELIVERABLE, REJECTED ->
          b.count(settlement.op().name().toLowerCase(Locale.ROOT));
      case EXPIRED -> {
        if (b.dropsExpired) {
          b.forget(id);
          b.count("lapsed");
          b.count("dropped");
          Long successor = b.succeed(id, 0, now);
          return new Settled(Settled.Kind.DROPPED, 0, successor == null ? 0 : successor);
        }
      }
      case DONE -> throw new IllegalStateException("not here");
    }
    boolean waits = b.next.containsKey(id);
    String ended =
        b.endAttempt(
            id,
            settlement.op().name().toLowerCase(Locale.ROOT),
            next,
            settlement.alone(),
            settlement.note(),
            now);
    long due = b.delayed.getOrDefault(id, 0L);
    if (ended.equals("retry")) {
      return new Settled(Settled.Kind.RETRY, due);
    }
    return new Settled(
        ended.equals("dead-expired") ? Settled.Kind.EXPIRED : Settled.Kind.DEAD,
        0,
        waits ? due : 0);
  }

  @Override
  public synchronized Extended extend(Bucket bucket, List<Lease> leases, Duration lease) {
    MemoryBucket b = of(bucket);
    long deadline = clock.getAsLong() + lease.toMillis();
    Set<String> lost = new HashSet<>();
    Set<String> cancelling = new HashSet<>();
    for (Lease held : leases) {
      MemoryBucket.HeldLease found = b.leases.get(held.taskId());
      if (found != null
          && found.token().equals(held.token().value())
          && b.reserved.containsKey(held.taskId())) {
        b.reserved.merge(held.taskId(), deadline, Math::max);
        b.leases.put(held.taskId(), found.received());
        if (found.cancelling()) {
          cancelling.add(held.taskId());
        }
      } else {
        lost.add(held.taskId());
      }
    }
    return new Extended(lost, cancelling);
  }

  @Override
  public synchronized Expired expire(Bucket bucket, int max, long until, ClockJump jump) {
    MemoryBucket b = of(bucket);
    long now = clock.getAsLong();
    int retried = 0;
    int dead = 0;
    int cancelled = 0;
    List<Map.Entry<String, Long>> over = b.reserved.earliest(Math.min(now, until), max);
    for (Map.Entry<String, Long> entry : over) {
      String id = entry.getKey();
      MemoryBucket.HeldLease lease = b.leases.get(id);
      long deadline = entry.getValue() + jump.millis();
      JobRecord record = b.jobs.get(id);
      if (record == null || lease == null) {
        b.buryCorrupt(id, now);
        dead++;
      } else if (lease.claimedAt() < jump.before() && deadline > now) {
        b.reserved.put(id, deadline);
        b.leases.put(id, lease.claimedAt(now));
      } else {
        b.count("expired");
        if (lease.cancelling()) {
          var unused = b.endCancelled(id, record, now, retention);
          cancelled++;
        } else if (lease.counts() == null) {
          b.giveBack(id, lease, lease.due());
          retried++;
        } else if (b.endAttempt(id, "lease", now, lease.counts(), new byte[0], now)
            .equals("retry")) {
          retried++;
        } else {
          dead++;
        }
      }
    }
    b.trimTombs(now, 32 + 2 * over.size());
    if (cancelled > 0) {
      b.trimTombs(now, 32 + 2 * cancelled);
      b.trimKept(now, cancelled);
    }
    return new Expired(now, retried, dead, cancelled, b.reserved.first());
  }

  @Override
  public synchronized Lapsed lapse(Bucket bucket, int max) {
    MemoryBucket b = of(bucket);
    long now = clock.getAsLong();
    String end = IndexTags.notAfter(now - 1000);
    List<String> found = b.tags.stream().filter(tag -> isBefore(tag, end)).limit(max).toList();
    int dead = 0;
    int dropped = 0;
    for (String member : found) {
      String tag = member.substring(0, end.length());
      String id = member.substring(end.length() + 1);
      JobRecord record = b.jobs.get(id);
      b.tags.remove(member);
      if (record == null || !record.tags().contains(tag) || !b.delayed.containsKey(id)) {
        continue;
      }
      b.count("lapsed");
      if (b.dropsExpired) {
        b.forget(id);
        var unused = b.succeed(id, 0, now);
        b.count("dropped");
        dropped++;
      } else {
        b.lapse(id, now);
        dead++;
      }
    }
    return new Lapsed(now, dead, dropped, found.size() == max);
  }

  private static boolean isBefore(String tag, String end) {
    return tag.startsWith(",0") && tag.compareTo(end) < 0;
  }

  @Override
  public synchronized Cancelled cancel(
      Bucket bucket,
      String taskId,
      @Nullable JobVersion seen,
      boolean interrupt,
      @Nullable String by,
      @Nullable String operation) {
    MemoryBucket b = of(bucket);
    long now = clock.getAsLong();
    JobState state = b.stateOf(taskId);
    if (state == null) {
      MemoryBucket.Tomb tomb = b.liveTomb(taskId, now);
      if (tomb == null) {
        return new Cancelled(Cancelled.Kind.UNKNOWN, 0, 0);
      }
      boolean meant =
          seen == null || (!tomb.finished() && tomb.incarnation().equals(seen.incarnation()));
      Cancelled.Kind kind = tomb.finished() ? Cancelled.Kind.FINISHED : Cancelled.Kind.CANCELLED;
      return new Cancelled(meant ? kind : Cancelled.Kind.CHANGED, 0, 0);
    }
    long version = b.version(taskId, state);
    if (!b.is(taskId, state, seen)) {
      return new Cancelled(Cancelled.Kind.CHANGED, 0, version);
    }
    if (state == JobState.RESERVED) {
      b.next.remove(taskId);
      MemoryBucket.HeldLease lease = b.leases.get(taskId);
      if (!interrupt || lease == null) {
        return new Cancelled(Cancelled.Kind.IN_DELIVERY, b.attempt(taskId), version);
      }
      b.leases.put(taskId, lease.toCancel(by));
      return new Cancelled(Cancelled.Kind.CANCELLING, lease.attempt(), version);
    } else if (state == JobState.DEAD) {
      return new Cancelled(Cancelled.Kind.DEAD, 0, version);
    }
    JobRecord record = b.jobs.get(taskId);
    if (record != null) {
      AttemptCounts t = b.tries.getOrDefault(taskId, AttemptCounts.NONE);
      long due = b.delayed.getOrDefault(taskId, 0L);
      AttemptCounts after = MemoryBucket.changed(t, t.version() == 1 ? due : t.firstDue(), 0);
      b.keep(
          taskId,
          MemoryBucket.Kept.of(
              record, due, after, b.errors.getOrDefault(taskId, List.of()), operation),
          now,
          retention);
    }
    b.forget(taskId);
    b.next.remove(taskId);
    if (record != null) {
      b.bury(record, taskId, now, retention, false, by == null ? null : Ending.cancelled(by));
      b.trimTombs(now, 34);
      b.trimKept(now, 1);
    }
    b.count("cancelled");
    return new Cancelled(Cancelled.Kind.CANCELLED, 0, version + 1);
  }

  @Override
  public synchronized Restored restore(Bucket bucket, String taskId, @Nullable String operation) {
    MemoryBucket b = of(bucket);
    long now = clock.getAsLong();
    JobState state = b.stateOf(taskId);
    MemoryBucket.Kept kept = b.liveKept(taskId, now);
    if (state != null) {
      return there(b, taskId, state, kept, operation == null, now);
    }
    Restored.Kind refusal = b.refusal(b.liveTomb(taskId, now), kept, now);
    JobRecord record = kept == null ? null : kept.record();
    if (refusal != null || kept == null || record == null) {
      return Restored.refused(Objects.requireNonNull(refusal));
    } else if (operation != null && !operation.equals(kept.operation())) {
      return Restored.refused(Restored.Kind.CHANGED);
    }
    Long head = b.delayed.first();
    b.put(taskId, record);
    long due = Math.max(kept.due(), now);
    b.delayed.put(taskId, due);
    b.tries.put(
        taskId,
        MemoryBucket.changed(kept.tries(), kept.due() < now ? now : kept.tries().firstDue(), 0));
    if (!kept.failures().isEmpty()) {
      b.errors.put(taskId, kept.failures());
    }
    b.count("restored");
    b.dropTomb(taskId);
    b.keepUndone(taskId, record.incarnation(), kept, now);
    b.trimKept(now, 1);
    return new Restored(
        Restored.Kind.RESTORED,
        due,
        0,
        b.job(taskId, JobState.DELAYED),
        newHead(b, head),
        Reached.REDIS);
  }

  /**
   * Answers for a job that is there: it is restored already, was told to stop, or is another job.
   */
  private static Restored there(
      MemoryBucket b,
      String id,
      JobState state,
      MemoryBucket.@Nullable Kept kept,
      boolean anyCancel,
      long now) {
    JobRecord record = b.jobs.get(id);
    String incarnation = record == null ? "" : record.incarnation();
    boolean restored = kept != null && kept.isUndone() && kept.incarnation().equals(incarnation);
    MemoryBucket.HeldLease lease = b.leases.get(id);
    long due = b.set(state).getOrDefault(id, 0L);
    if (state == JobState.RESERVED) {
      due = lease == null ? 0 : lease.due();
    } else if (state == JobState.DEAD) {
      due = 0;
    }
    if (lease != null && lease.cancelling() && anyCancel) {
      b.leases.put(id, lease.toGoOn());
      if (record != null) {
        b.keepUndone(id, incarnation, null, now);
      }
      b.trimKept(now, 1);
      restored = true;
    }
    return new Restored(
        restored ? Restored.Kind.RESTORED : Restored.Kind.EXISTS,
        due,
        b.attempt(id),
        b.job(id, state),
        null,
        Reached.REDIS);
  }

  @Override
  public synchronized Undoable undoable(
      Bucket bucket, String operation, @Nullable Cursor after, int max) {
    MemoryBucket b = of(bucket);
    long now = clock.getAsLong();
    Comparator<Cursor> order =
        Comparator.comparingLong(Cursor::score).thenComparing(Cursor::taskId);
    List<Cursor> behind =
        b.operated().stream()
            .filter(place -> after == null || order.compare(place, after) > 0)
            .toList();
    List<Cursor> page = behind.subList(0, Math.min(max, behind.size()));
    List<Undoable.Item> items = new ArrayList<>();
    for (Cursor place : page) {
      String id = place.taskId();
      MemoryBucket.Kept kept = b.liveKept(id, now);
      if (kept != null && operation.equals(kept.operation())) {
        items.add(new Undoable.Item(id, place.score(), outcome(b, id, kept, now)));
      }
    }
    return new Undoable(items, page.size() < behind.size() ? page.get(max - 1) : null);
  }

  private static Undoable.Outcome outcome(
      MemoryBucket b, String id, MemoryBucket.Kept kept, long now) {
    if (b.stateOf(id) == null) {
      Restored.Kind refusal = b.refusal(b.liveTomb(id, now), kept, now);
      return refusal == null ? Undoable.Outcome.RESTORED : Undoable.Outcome.valueOf(refusal.name());
    }
    JobRecord record = b.jobs.get(id);
    return record != null && kept.isUndone() && record.incarnation().equals(kept.incarnation())
        ? Undoable.Outcome.UNDONE
        : Undoable.Outcome.EXISTS;
  }

  @Override
  public synchronized Revised revise(Bucket bucket, String taskId, Revision revision) {
    MemoryBucket b = of(bucket);
    long now = clock.getAsLong();
    JobState state = b.stateOf(taskId);
    JobVersion seen = revision.seen();
    if (state == null) {
      MemoryBucket.Tomb tomb = b.liveTomb(taskId, now);
      if (tomb != null && seen != null) {
        return Revised.refused(Revised.Kind.CHANGED, 0, null);
      }
      boolean finished = tomb != null && tomb.finished();
      return Revised.refused(finished ? Revised.Kind.FINISHED : Revised.Kind.UNKNOWN, 0, null);
    }
    JobRecord record = b.jobs.get(taskId);
    Revision.NewContent content = revision.content();
    JobVersion version = b.job(taskId, state);
    if (!b.is(taskId, state, seen)) {
      return Revised.refused(Revised.Kind.CHANGED, 0, version);
    } else if (state == JobState.RESERVED) {
      return Revised.refused(Revised.Kind.IN_DELIVERY, b.attempt(taskId), version);
    } else if (state == JobState.DEAD) {
      return Revised.refused(Revised.Kind.DEAD, 0, version);
    } else if (content != null && record == null) {
      return Revised.refused(Revised.Kind.CHANGED, 0, version);
    }
    Long head = b.delayed.first();
    Due due = revision.due();
    AttemptCounts t = b.tries.getOrDefault(taskId, AttemptCounts.NONE);
    long at = b.delayed.getOrDefault(taskId, 0L);
    long first = t.version() == 1 ? at : t.firstDue();
    long attemptDue = t.attemptDue();
    if (due != null) {
      at = due.relative() ? now + due.millis() : due.millis();
      first = at;
      attemptDue = 0;
      b.delayed.put(taskId, at);
    }
    b.tries.put(taskId, MemoryBucket.changed(t, first, attemptDue));
    if (content != null && record != null) {
      b.put(
          taskId,
          new JobRecord(
              content.incarnation(),
              content.maxAttempts(),
              record.acceptedAt(),
              content.timeToRun(),
              content.origin(),
              content.tags(),
              content.content()));
    }
    return new Revised(Revised.Kind.REVISED, at, 0, b.job(taskId, state), newHead(b, head));
  }

  @Override
  public synchronized Requeued requeue(Bucket bucket, List<Requeue> wanted, Duration delay) {
    MemoryBucket b = of(bucket);
    long due = clock.getAsLong() + delay.toMillis();
    Long before = b.delayed.first();
    List<Requeued.Item> items = new ArrayList<>();
    for (Requeue job : wanted) {
      String id = job.taskId();
      if (!b.dead.containsKey(id) || !b.jobs.containsKey(id)) {
        items.add(new Requeued.Item(Requeued.Kind.REFUSED, null));
      } else if (!b.is(id, JobState.DEAD, job.seen())) {
        items.add(new Requeued.Item(Requeued.Kind.CHANGED, b.job(id, JobState.DEAD)));
      } else {
        b.dead.remove(id);
        b.delayed.put(id, due);
        AttemptCounts t = b.tries.getOrDefault(id, AttemptCounts.NONE);
        b.tries.put(
            id,
            new AttemptCounts(
                t.undeliverable(), t.unknown(), t.failed(), 0, 0, false, due, t.version() + 1, 0));
        b.count("requeued");
        items.add(new Requeued.Item(Requeued.Kind.REQUEUED, b.job(id, JobState.DELAYED)));
      }
    }
    return new Requeued(items, newHead(b, before));
  }

  @Override
  public synchronized int purge(Bucket bucket, JobState state, List<String> taskIds) {
    MemoryBucket b = of(bucket);
    int purged = 0;
    for (String id : taskIds) {
      if (b.set(state).containsKey(id)) {
        b.forget(id);
        b.next.remove(id);
        b.count("purged");
        purged++;
      }
    }
    return purged;
  }

  @Override
  public synchronized Optional<JobView> find(Bucket bucket, String taskId) {
    MemoryBucket b = of(bucket);
    long now = clock.getAsLong();
    JobState state = b.stateOf(taskId);
    if (state != null) {
      return Optional.of(b.view(bucket.queue(), taskId, state, now));
    }
    MemoryBucket.Tomb tomb = b.liveTomb(taskId, now);
    return tomb == null
        ? Optional.empty()
        : Optional.of(
            new JobView(
                now,
                bucket.queue(),
                taskId,
                tomb.finished() ? JobState.FINISHED : JobState.CANCELLED,
                tomb.at(),
                null,
                AttemptCounts.NONE,
                null,
                List.of(),
                null,
                tomb.ending(),
                b.restorableUntil(taskId, tomb, now)));
  }

  @Override
  public synchronized Page list(
      Bucket bucket, JobState state, boolean newestFirst, @Nullable Cursor after, int max) {
    MemoryBucket b = of(bucket);
    long now = clock.getAsLong();
    Comparator<JobView> earliest =
        Comparator.comparingLong(JobView::at).thenComparing(JobView::taskId);
    Comparator<JobView> order = newestFirst ? earliest.reversed() : earliest;
    List<JobView> behind =
        b.set(state).earliest(Long.MAX_VALUE, Integer.MAX_VALUE).stream()
            .map(entry -> b.outline(bucket.queue(), entry.getKey(), state, now))
            .sorted(order)
            .filter(job -> after == null || isBehind(job, after, newestFirst))
            .toList();
    if (behind.size() <= max) {
      return new Page(behind, null);
    }
    JobView last = behind.get(max - 1);
    return new Page(behind.subList(0, max), new Cursor(last.at(), last.taskId()));
  }

  private static boolean isBehind(JobView job, Cursor place, boolean newestFirst) {
    int order =
        job.at() == place.score()
            ? job.taskId().compareTo(place.taskId())
            : Long.compare(job.at(), place.score());
    return newestFirst ? order < 0 : order > 0;
  }

  @Override
  public synchronized void dropExpired(Bucket bucket, boolean drop) {
    of(bucket).dropsExpired = drop;
  }

  @Override
  public synchronized @Nullable Long hours(Bucket bucket, String hours) {
    MemoryBucket b = of(bucket);
    b.hours = hours;
    b.opening = hours.isEmpty() ? null : new Opening(0, 0, 0, 0);
    return b.delayed.first();
  }

  @Override
  public synchronized void opening(Bucket bucket, String hours, Opening opening) {
    MemoryBucket b = of(bucket);
    if (b.opening != null && b.hours.equals(hours)) {
      b.opening = opening;
    }
  }

  @Override
  public synchronized BucketStats stats(Bucket bucket) {
    MemoryBucket b = of(bucket);
    long now = clock.getAsLong();
    long ready = b.delayed.countUpTo(now);
    return new BucketStats(
        now,
        b.delayed.size(),
        ready,
        b.reserved.size(),
        b.dead.size(),
        ready > 0 ? b.delayed.first() : null,
        b.delayed.above(now),
        b.pauses(now),
        b.throttle,
        b.dropsExpired,
        b.hours,
        b.closedUntil(now),
        Map.copyOf(b.stats),
        b.dead.last(),
        b.dead.size() - b.dead.countUpTo(now - 3_600_001));
  }

  @Override
  public synchronized Stamps stamps(List<Bucket> buckets) {
    long now = clock.getAsLong();
    return new Stamps(
        now,
        buckets.stream()
            .map(this::of)
            .map(
                b ->
                    List.of(
                            new TreeMap<>(b.stats),
                            b.reserved.size(),
                            b.delayed.size(),
                            b.dead.size(),
                            String.valueOf(b.delayed.first()),
                            b.delayed.countUpTo(now),
                            String.valueOf(b.delayed.above(now)),
                            b.pauses(now),
                            b.throttle,
                            b.dropsExpired,
                            b.hours,
                            String.valueOf(b.opening))
                        .toString())
            .toList());
  }

  /** The bytes are those of the contents. */
  @Override
  public synchronized BucketUsage usage(Bucket bucket) {
    MemoryBucket b = of(bucket);
    return new BucketUsage(
        b.jobs.size(), b.jobs.values().stream().mapToLong(job -> job.content().length).sum());
  }

  @Override
  public synchronized Tagged tagged(Bucket bucket, String tag, @Nullable String after, int max) {
    MemoryBucket b = of(bucket);
    long now = clock.getAsLong();
    List<String> ids =
        b.tags.stream()
            .filter(member -> member.startsWith(tag + " "))
            .map(member -> member.substring(tag.length() + 1))
            .filter(id -> after == null || id.compareTo(after) > 0)
            .toList();
    List<JobView> jobs = new ArrayList<>();
    for (String id : ids.subList(0, Math.min(max, ids.size()))) {
      JobState state = b.stateOf(id);
      if (state != null) {
        jobs.add(b.outline(bucket.queue(), id, state, now));
      }
    }
    return new Tagged(jobs, ids.size() > max ? ids.get(max - 1) : null);
  }

  @Override
  public synchronized void remember(String application, String event, Duration memory) {
    events.put(application + " " + event, clock.getAsLong() + memory.toMillis());
  }

  @Override
  public synchronized Set<String> remembered(String application, Set<String> asked) {
    long now = clock.getAsLong();
    return asked.stream()
        .filter(event -> events.getOrDefault(application + " " + event, 0L) > now)
        .collect(Collectors.toSet());
  }

  @Override
  public synchronized Paused pause(Bucket bucket, Pause.Scope scope, Pause.@Nullable Terms terms) {
    MemoryBucket b = of(bucket);
    Pause before = b.pauses.remove(scope);
    Pause after = terms == null ? null : pause(scope, before, terms, clock.getAsLong());
    if (after != null) {
      b.pauses.put(scope, after);
    }
    return new Paused(
        after == null ? null : Long.valueOf(after.since()),
        before == null ? null : b.delayed.first());
  }

  /**
   * Pauses, or changes a pause that goes on.
   *
   * @param before as it was; null for none
   */
  public static Pause pause(
      Pause.Scope scope, @Nullable Pause before, Pause.Terms terms, long now) {
    return new Pause(
        scope,
        before != null && before.goesOn(now) ? before.since() : now,
        terms.length() == null ? null : Long.valueOf(now + terms.millis()),
        terms.by(),
        terms.reason());
  }

  @Override
  public synchronized Forecast forecast(Bucket bucket, Duration width, int intervals) {
    MemoryBucket b = of(bucket);
    long now = clock.getAsLong();
    List<Long> counts = new ArrayList<>();
    for (int i = 0; i < intervals; i++) {
      long from = now + i * width.toMillis();
      long to = from + width.toMillis();
      counts.add((long) b.delayed.countUpTo(to) - b.delayed.countUpTo(from));
    }
    return new Forecast(now, b.delayed.countUpTo(now), counts);
  }
}
