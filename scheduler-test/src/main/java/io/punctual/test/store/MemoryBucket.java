package io.punctual.test.store;

import io.punctual.core.job.AttemptCounts;
import io.punctual.core.job.Ending;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.Opening;
import io.punctual.core.job.Origin;
import io.punctual.core.job.Pause;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.core.job.UndoLimits;
import io.punctual.core.store.Restored;
import io.punctual.core.store.Submission;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.JobView;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What a bucket holds, and the moves that several transitions share. */
final class MemoryBucket {

  /**
   * A lease.
   *
   * @param counts whether an attempt that runs out counts to the limit; null for a pull that has
   *     not been received yet
   * @param cancelling whether the attempt is to stop
   * @param cancelledBy who wants that; null if it is not known
   */
  record HeldLease(
      String incarnation,
      String token,
      int attempt,
      @Nullable Boolean counts,
      long claimedAt,
      long due,
      long version,
      String owner,
      boolean cancelling,
      @Nullable String cancelledBy) {

    HeldLease received() {
      return counts != null ? this : with(true, claimedAt, cancelling, cancelledBy);
    }

    HeldLease claimedAt(long at) {
      return with(counts, at, cancelling, cancelledBy);
    }

    /** The first who cancels it is remembered. */
    HeldLease toCancel(@Nullable String by) {
      return cancelling ? this : with(counts, claimedAt, true, by);
    }

    /** Returns the lease of an attempt that is no longer told to stop. */
    HeldLease toGoOn() {
      return with(counts, claimedAt, false, null);
    }

    private HeldLease with(
        @Nullable Boolean counting, long claimed, boolean toCancel, @Nullable String by) {
      return new HeldLease(
          incarnation, token, attempt, counting, claimed, due, version, owner, toCancel, by);
    }

    String text() {
      String counting = counts == null ? "-" : counts ? "1" : "0";
      return "%s %s %d %s %d %d %d %s%s%s"
          .formatted(
              incarnation,
              token,
              attempt,
              counting,
              claimedAt,
              due,
              version,
              owner,
              cancelledBy == null ? "" : "\u007f" + cancelledBy,
              cancelling ? " cancelling" : "");
    }
  }

  /**
   * What waits for the end of a job.
   *
   * @param due epoch ms; of a debounce ms from that end
   */
  record Successor(boolean debounced, long due, Submission job) {

    long dueAt(long now) {
      return debounced ? now + due : Math.max(now, due);
    }

    String text() {
      return (debounced ? "+" : "") + due + "\n" + record(accepted(job, 0)).substring(6);
    }
  }

  record Tomb(String incarnation, boolean finished, String hash, long at, @Nullable Ending ending) {

    String text() {
      return incarnation
          + (ending == null ? "" : "," + ending.text())
          + (finished ? " D " : " C ")
          + hash
          + " "
          + at;
    }
  }

  /**
   * What a cancel keeps.
   *
   * @param record null once the cancel is undone, and of a job that is too large
   * @param large whether the job is too large
   * @param operation that cancelled it; null for none
   */
  record Kept(
      String incarnation,
      @Nullable JobRecord record,
      boolean large,
      long due,
      AttemptCounts tries,
      List<Failure> failures,
      @Nullable String operation) {

    static Kept undone(String incarnation, @Nullable String operation) {
      return without(incarnation, false, operation);
    }

    private static Kept without(String incarnation, boolean large, @Nullable String operation) {
      return new Kept(incarnation, null, large, 0, AttemptCounts.NONE, List.of(), operation);
    }

    /** Keeps the job, unless it is too large. */
    static Kept of(
        JobRecord record,
        long due,
        AttemptCounts tries,
        List<Failure> failures,
        @Nullable String operation) {
      return MemoryBucket.record(record).length() > UndoLimits.BYTES
          ? without(record.incarnation(), true, operation)
          : new Kept(record.incarnation(), record, false, due, tries, failures, operation);
    }

    boolean isUndone() {
      return record == null && !large;
    }

    String text() {
      String by = operation == null ? "" : " " + operation;
      if (record == null) {
        return (large ? "+ " : "- ") + incarnation + by;
      }
      String errors = failures.stream().map(Failure::text).collect(Collectors.joining());
      return "%d %s %d%s\n%s%s"
          .formatted(
              due,
              MemoryBucket.text(tries),
              errors.length(),
              by,
              errors,
              MemoryBucket.record(record));
    }
  }

  record Failure(
      long at, String kind, String disposition, int attempt, long claimedAt, byte[] note) {

    String text() {
      return "%d %s %s %d %d %d\n%s"
          .formatted(
              at, kind, disposition, attempt, claimedAt, note.length, MemoryBucket.text(note));
    }
  }

  /** What stands before the time of a job that an operation cancelled: these go by themselves. */
  private static final long OPERATED = 1_000_000_000_000_000L;

  final Map<String, JobRecord> jobs = new TreeMap<>();
  final Scores delayed = new Scores();
  final Scores reserved = new Scores();
  final Scores dead = new Scores();
  final Map<String, HeldLease> leases = new TreeMap<>();
  final Map<String, AttemptCounts> tries = new TreeMap<>();
  final Map<String, List<Failure>> errors = new TreeMap<>();
  final Scores tombExpiry = new Scores();
  final Map<String, Tomb> tombs = new TreeMap<>();
  final Map<String, Long> stats = new TreeMap<>();
  final Set<String> tags = new TreeSet<>();
  final Map<String, Successor> next = new TreeMap<>();
  final Scores keptUntil = new Scores();
  final Map<String, Kept> kept = new TreeMap<>();
  final Map<Pause.Scope, Pause> pauses = new EnumMap<>(Pause.Scope.class);
  Throttle throttle = Throttle.NONE;

  /** Whether jobs that could not start in time are dropped. */
  boolean dropsExpired;

  /** When jobs are handed out; empty for any time. */
  String hours = "";

  /** Of these hours; null if there are none. */
  @Nullable Opening opening;

  /** When the next job would be due if all went out evenly, epoch us. */
  @Nullable Long evenly;

  @Nullable JobState stateOf(String id) {
    if (delayed.containsKey(id)) {
      return JobState.DELAYED;
    }
    if (reserved.containsKey(id)) {
      return JobState.RESERVED;
    }
    return dead.containsKey(id) ? JobState.DEAD : null;
  }

  Scores set(JobState state) {
    return switch (state) {
      case DELAYED -> delayed;
      case RESERVED -> reserved;
      case DEAD -> dead;
      default -> throw new IllegalArgumentException("no jobs are kept as " + state);
    };
  }

  int attempt(String id) {
    HeldLease lease = leases.get(id);
    return lease == null ? 0 : lease.attempt();
  }

  void count(String counter) {
    stats.merge(counter, 1L, Long::sum);
  }

  static JobRecord accepted(Submission job, long at) {
    return new JobRecord(
        job.incarnation(),
        job.maxAttempts(),
        at,
        job.timeToRun(),
        job.origin(),
        job.tags(),
        job.content());
  }

  void store(Submission job, long due, long now) {
    put(job.taskId(), accepted(job, now));
    delayed.put(job.taskId(), due);
    count("submitted");
  }

  /** Writes a record, in the place of one that may be there. */
  void put(String id, JobRecord record) {
    untag(id);
    jobs.put(id, record);
    record.tags().forEach(tag -> tags.add(tag + " " + id));
  }

  private void untag(String id) {
    JobRecord record = jobs.get(id);
    if (record != null) {
      untag(id, record.tags());
    }
  }

  void untag(String id, List<String> removed) {
    removed.forEach(tag -> tags.remove(tag + " " + id));
  }

  /** Puts a failure on top; ten are kept, the older ones only while all take less than 4 kB. */
  private void failed(String id, Failure failure) {
    List<Failure> all = new ArrayList<>(List.of(failure));
    int bytes = failure.text().length();
    for (Failure older : errors.getOrDefault(id, List.of())) {
      bytes += older.text().length();
      if (all.size() == 10 || bytes > 4096) {
        break;
      }
      all.add(older);
    }
    errors.put(id, List.copyOf(all));
  }

  /**
   * Ends an attempt that did not succeed.
   *
   * @param next when the next one is due; null if it could not start in time
   * @return {@code retry}, or why it is dead
   */
  String endAttempt(
      String id, String kind, @Nullable Long next, boolean alone, byte[] note, long now) {
    HeldLease lease = leases.get(id);
    JobRecord record = jobs.get(id);
    if (lease == null || record == null) {
      throw new IllegalStateException("not reserved: " + id);
    }
    AttemptCounts t = behind(tries.getOrDefault(id, AttemptCounts.NONE), lease);
    AttemptCounts after =
        switch (kind) {
          case "undeliverable" ->
              new AttemptCounts(
                  t.undeliverable() + 1,
                  t.unknown(),
                  t.failed(),
                  t.counted(),
                  t.delivered(),
                  t.suspect(),
                  t.firstDue(),
                  t.version(),
                  next == null ? 0 : attemptDue(t, lease));
          case "expired" -> changed(t, t.firstDue(), 0, t.version());
          case "unknown", "lease" ->
              new AttemptCounts(
                  t.undeliverable(),
                  t.unknown() + 1,
                  t.failed(),
                  t.counted() + (alone ? 1 : 0),
                  t.delivered() + 1,
                  true,
                  t.firstDue(),
                  t.version(),
                  0);
          default ->
              new AttemptCounts(
                  t.undeliverable(),
                  t.unknown(),
                  t.failed() + 1,
                  t.counted() + 1,
                  t.delivered() + 1,
                  false,
                  t.firstDue(),
                  t.version(),
                  0);
        };
    String disposition = "retry";
    if (kind.equals("rejected")) {
      disposition = "dead-rejected";
    } else if (!kind.equals("undeliverable") && !kind.equals("expired")) {
      if (after.counted() >= record.maxAttempts()) {
        disposition = "dead-attempts";
      } else if (after.delivered() >= 3 * record.maxAttempts()) {
        disposition = "dead-deliveries";
      }
    }
    if (disposition.equals("retry") && next == null) {
      disposition = "dead-expired";
      count("lapsed");
    }
    reserved.remove(id);
    leases.remove(id);
    boolean tried = !kind.equals("expired");
    failed(
        id,
        new Failure(
            now,
            kind,
            disposition,
            tried ? lease.attempt() : 0,
            tried ? lease.claimedAt() : 0,
            note));
    boolean retry = disposition.equals("retry");
    if (!retry) {
      count("dead");
    }
    Successor successor = this.next.get(id);
    boolean overtaken = successor != null && successor.debounced() && !kind.equals("undeliverable");
    if ((!retry || overtaken) && succeed(id, after.version(), now) != null) {
      return disposition;
    }
    tries.put(id, after);
    if (next != null && retry) {
      delayed.put(id, next);
    } else {
      dead.put(id, now);
    }
    return disposition;
  }

  /**
   * Lets what waits for the end of a job take its place; answers its due time, null if none waits.
   */
  @Nullable Long succeed(String id, long version, long now) {
    Successor successor = next.remove(id);
    if (successor == null) {
      return null;
    }
    long due = successor.dueAt(now);
    store(successor.job(), due, now);
    if (version > 0) {
      tries.put(id, AttemptCounts.of(due, version + 1));
    }
    return due;
  }

  /** Makes a reserved job wait again, without an attempt. */
  void giveBack(String id, HeldLease lease, long due) {
    AttemptCounts t = behind(tries.getOrDefault(id, AttemptCounts.NONE), lease);
    long attemptDue = due == lease.due() ? t.attemptDue() : attemptDue(t, lease);
    tries.put(id, changed(t, t.firstDue(), attemptDue, t.version()));
    reserved.remove(id);
    leases.remove(id);
    delayed.put(id, due);
  }

  /** What is known of the attempts of a job when its holder loses it. */
  private static AttemptCounts behind(AttemptCounts t, HeldLease lease) {
    long firstDue = t.version() == 1 ? lease.due() : t.firstDue();
    return changed(t, firstDue, t.attemptDue(), lease.version() + 1);
  }

  /** Returns when the attempt that did not count first fell due. */
  private static long attemptDue(AttemptCounts t, HeldLease lease) {
    return t.attemptDue() == 0 ? lease.due() : t.attemptDue();
  }

  /** The same attempts after a change of the job. */
  static AttemptCounts changed(AttemptCounts t, long firstDue, long attemptDue) {
    return changed(t, firstDue, attemptDue, t.version() + 1);
  }

  private static AttemptCounts changed(
      AttemptCounts t, long firstDue, long attemptDue, long version) {
    return new AttemptCounts(
        t.undeliverable(),
        t.unknown(),
        t.failed(),
        t.counted(),
        t.delivered(),
        t.suspect(),
        firstDue,
        version,
        attemptDue);
  }

  /** The number of the last change of a job; 0 where its lease is gone. */
  long version(String id, JobState state) {
    if (state != JobState.RESERVED) {
      return tries.getOrDefault(id, AttemptCounts.NONE).version();
    }
    HeldLease lease = leases.get(id);
    return lease == null ? 0 : lease.version();
  }

  /** What a job is; null where no number is known. */
  @Nullable JobVersion job(String id, JobState state) {
    long version = version(id, state);
    JobRecord record = jobs.get(id);
    return version == 0
        ? null
        : new JobVersion(record == null ? "" : record.incarnation(), version);
  }

  /** Whether a job is what somebody has seen; null for any. */
  boolean is(String id, JobState state, @Nullable JobVersion seen) {
    return seen == null || seen.equals(job(id, state));
  }

  /** Ends the attempt of a job that was to be cancelled and was not done; answers as succeed. */
  @Nullable Long endCancelled(String id, JobRecord record, long now, long retention) {
    HeldLease lease = leases.get(id);
    String by = lease == null ? null : lease.cancelledBy();
    AttemptCounts t = tries.getOrDefault(id, AttemptCounts.NONE);
    AttemptCounts after =
        lease == null ? null : behind(changed(t, t.firstDue(), 0, t.version()), lease);
    List<Failure> failures = errors.getOrDefault(id, List.of());
    forget(id);
    bury(record, id, now, retention, false, by == null ? null : Ending.cancelled(by));
    count("cancelled");
    Long due = succeed(id, 0, now);
    if (due != null) {
      keptUntil.remove(id);
      kept.remove(id);
    } else if (lease != null && after != null) {
      keep(id, Kept.of(record, lease.due(), after, failures, null), now, retention);
    }
    return due;
  }

  /** Ends a waiting job that could not start in time. */
  void lapse(String id, long now) {
    AttemptCounts t = tries.getOrDefault(id, AttemptCounts.NONE);
    long firstDue = t.version() == 1 ? delayed.getOrDefault(id, 0L) : t.firstDue();
    tries.put(id, changed(t, firstDue, 0));
    long version = version(id, JobState.DELAYED);
    delayed.remove(id);
    failed(id, new Failure(now, "expired", "dead-expired", 0, 0, new byte[0]));
    count("dead");
    if (succeed(id, version, now) == null) {
      dead.put(id, now);
    }
  }

  void buryCorrupt(String id, long now) {
    delayed.remove(id);
    reserved.remove(id);
    leases.remove(id);
    dead.put(id, now);
    failed(id, new Failure(now, "corrupt", "dead-corrupt", 0, 0, new byte[0]));
    count("dead");
  }

  /** Keeps a job that is cancelled, no longer than its tombstone. */
  void keep(String id, Kept job, long now, long retention) {
    long until = now + Math.min(UndoLimits.TIME.toMillis(), retention);
    keptUntil.put(id, job.operation() == null ? until : OPERATED + until);
    kept.put(id, job);
  }

  /**
   * Notes that the cancel of a job is undone; that of an operation's job keeps its place.
   *
   * @param job as it was kept; null for an attempt that was to stop
   */
  void keepUndone(String id, String incarnation, @Nullable Kept job, long now) {
    String operation = job == null ? null : job.operation();
    long rest = operation == null ? Long.MAX_VALUE : until(id) - now;
    keep(id, Kept.undone(incarnation, operation), now, rest);
  }

  private long until(String id) {
    return until(keptUntil.getOrDefault(id, 0L));
  }

  private static long until(long score) {
    return score >= OPERATED ? score - OPERATED : score;
  }

  @Nullable Kept liveKept(String id, long now) {
    return until(id) <= now ? null : kept.get(id);
  }

  /**
   * Why a restore of an id that is in no state does nothing.
   *
   * @return null if it puts the job back
   */
  Restored.@Nullable Kind refusal(@Nullable Tomb tomb, @Nullable Kept job, long now) {
    if (tomb == null) {
      return Restored.Kind.UNKNOWN;
    } else if (tomb.finished()) {
      return Restored.Kind.FINISHED;
    }
    Kept same = job != null && job.incarnation().equals(tomb.incarnation()) ? job : null;
    if (same != null && same.record() != null) {
      return null;
    } else if (tomb.at() + UndoLimits.TIME.toMillis() <= now) {
      return Restored.Kind.TOO_LATE;
    }
    return same != null && same.large() ? Restored.Kind.TOO_LARGE : Restored.Kind.NOT_KEPT;
  }

  /** Until when the cancel of a job with this tombstone can be undone, epoch ms; null if never. */
  @Nullable Long restorableUntil(String id, Tomb tomb, long now) {
    return refusal(tomb, liveKept(id, now), now) != null
        ? null
        : Long.valueOf(Math.min(until(id), tombExpiry.getOrDefault(id, 0L)));
  }

  /** What is kept that operations cancelled, in the order in which it is forgotten. */
  List<Cursor> operated() {
    return keptUntil.from(OPERATED).stream()
        .map(entry -> new Cursor(until(entry.getValue()), entry.getKey()))
        .toList();
  }

  /** After so many jobs were added: forgets those beyond the limits, or some that are over. */
  void trimKept(long now, int jobs) {
    List<Map.Entry<String, Long>> operated = keptUntil.from(OPERATED);
    int single = keptUntil.size() - operated.size();
    List<Map.Entry<String, Long>> ended =
        new ArrayList<>(
            trimmed(keptUntil.earliest(OPERATED - 1, single), single - UndoLimits.JOBS, jobs, now));
    ended.addAll(trimmed(operated, operated.size() - UndoLimits.JOBS_OF_OPERATIONS, jobs, now));
    ended.forEach(
        entry -> {
          keptUntil.remove(entry.getKey());
          kept.remove(entry.getKey());
        });
  }

  private static List<Map.Entry<String, Long>> trimmed(
      List<Map.Entry<String, Long>> all, int over, int jobs, long now) {
    int ended = (int) all.stream().filter(entry -> until(entry.getValue()) <= now).count();
    int most = Math.max(Math.min(ended, 32 + 2 * jobs), Math.min(over, 2 * jobs));
    return all.subList(0, Math.max(0, most));
  }

  /** Removes all of a job but its tombstone. */
  void forget(String id) {
    untag(id);
    jobs.remove(id);
    delayed.remove(id);
    reserved.remove(id);
    dead.remove(id);
    leases.remove(id);
    tries.remove(id);
    errors.remove(id);
  }

  void bury(
      JobRecord record,
      String id,
      long now,
      long retention,
      boolean finished,
      @Nullable Ending ending) {
    tombExpiry.put(id, now + retention);
    tombs.put(id, new Tomb(record.incarnation(), finished, hash(record.content()), now, ending));
  }

  @Nullable Tomb liveTomb(String id, long now) {
    Long expires = tombExpiry.get(id);
    return expires == null || expires <= now ? null : tombs.get(id);
  }

  void dropTomb(String id) {
    tombExpiry.remove(id);
    tombs.remove(id);
  }

  void trimTombs(long now, int max) {
    tombExpiry.earliest(now, max).forEach(entry -> dropTomb(entry.getKey()));
  }

  static String hash(byte[] content) {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("SHA-1").digest(content))
          .substring(0, 20);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** As a list has it. */
  JobView outline(QueueName queue, String id, JobState state, long now) {
    JobRecord record = jobs.get(id);
    return view(
        queue,
        id,
        state,
        now,
        record == null
            ? null
            : new JobRecord(
                record.incarnation(),
                record.maxAttempts(),
                record.acceptedAt(),
                record.timeToRun(),
                record.origin(),
                record.tags(),
                new byte[0]),
        null);
  }

  JobView view(QueueName queue, String id, JobState state, long now) {
    Successor successor = next.get(id);
    return view(
        queue, id, state, now, jobs.get(id), successor == null ? null : successor.dueAt(now));
  }

  private JobView view(
      QueueName queue,
      String id,
      JobState state,
      long now,
      @Nullable JobRecord record,
      @Nullable Long successorDue) {
    HeldLease lease = leases.get(id);
    return new JobView(
        now,
        queue,
        id,
        state,
        set(state).getOrDefault(id, 0L),
        record,
        tries.getOrDefault(id, AttemptCounts.NONE),
        lease == null
            ? null
            : new JobView.LeaseInfo(
                new LeaseToken(lease.token()),
                lease.attempt(),
                !Boolean.FALSE.equals(lease.counts()),
                lease.claimedAt(),
                lease.due(),
                lease.version(),
                lease.owner(),
                lease.cancelling()),
        errors.getOrDefault(id, List.of()).stream()
            .map(
                f ->
                    new JobView.Failure(
                        f.at(),
                        f.kind(),
                        f.disposition(),
                        f.attempt(),
                        f.claimedAt(),
                        ErrorNote.decode(f.note())))
            .toList(),
        successorDue,
        null,
        null);
  }

  BucketContents contents() {
    return new BucketContents(
        texts(jobs, MemoryBucket::record),
        delayed,
        reserved,
        dead,
        texts(leases, HeldLease::text),
        texts(tries, MemoryBucket::text),
        texts(errors, all -> all.stream().map(Failure::text).collect(Collectors.joining())),
        tombExpiry,
        texts(tombs, Tomb::text),
        texts(stats, n -> Long.toString(n)),
        tags.stream().collect(Collectors.toMap(member -> member, member -> 0L)),
        control(),
        texts(next, Successor::text),
        keptUntil,
        texts(kept, Kept::text));
  }

  /** The pauses that go on. */
  List<Pause> pauses(long now) {
    return pauses.values().stream().filter(pause -> pause.goesOn(now)).toList();
  }

  /** Until when nothing is handed out by the hours; 0 if that is not known, null if it is. */
  @Nullable Long closedUntil(long now) {
    if (opening == null || (isGood(now, opening) && isWithin(now, opening))) {
      return null;
    } else if (!isGood(now, opening)) {
      return 0L;
    }
    return now < opening.from()
        ? Math.min(opening.from(), opening.goodUntil())
        : opening.goodUntil();
  }

  /**
   * Since when the hours let jobs go out at that time; 0 without hours, or if it is not known. With
   * a calendar, the opening may be computed again since then.
   */
  long openSince(long at) {
    return opening != null && isWithin(at, opening) ? opening.from() : 0;
  }

  private static boolean isWithin(long at, Opening opening) {
    return opening.from() <= at && at < opening.to();
  }

  private static boolean isGood(long now, Opening opening) {
    return opening.goodFrom() <= now && now < opening.goodUntil();
  }

  private Map<String, String> control() {
    Map<String, String> control = new TreeMap<>();
    pauses.forEach(
        (scope, pause) ->
            control.put(scope == Pause.Scope.QUEUE ? "paused" : "application", pause.text()));
    if (dropsExpired) {
      control.put("expired", "drop");
    }
    if (opening != null) {
      control.put("hours", hours);
      control.put("opening", opening.text());
    }
    if (evenly != null) {
      control.put("tat", Long.toString(evenly));
    }
    Integer concurrency = throttle.concurrency();
    if (concurrency != null) {
      control.put("concurrency", concurrency.toString());
    }
    Throttle.Rate rate = throttle.rate();
    if (rate != null) {
      control.put("rate", rate.jobs() + " " + rate.period().toMillis());
    }
    return control;
  }

  // A character a byte.
  static String record(JobRecord r) {
    byte[] numbers = ByteBuffer.allocate(8).putLong(r.acceptedAt() << 16 | r.maxAttempts()).array();
    String rest =
        r.timeToRun() == 0 && r.origin().equals(Origin.UNKNOWN) && r.tags().isEmpty()
            ? ""
            : " %d %s %s"
                    .formatted(
                        r.timeToRun(),
                        Objects.requireNonNullElse(r.origin().trace(), "-"),
                        Objects.requireNonNullElse(r.origin().submitter(), "-"))
                + r.tags().stream().map(tag -> " " + tag).collect(Collectors.joining());
    return new String(numbers, StandardCharsets.ISO_8859_1)
        + r.incarnation()
        + rest
        + "\n"
        + new String(r.content(), StandardCharsets.ISO_8859_1);
  }

  private static String text(AttemptCounts t) {
    return "%d %d %d %d %d %d %d %d%s"
        .formatted(
            t.undeliverable(),
            t.unknown(),
            t.failed(),
            t.counted(),
            t.delivered(),
            t.suspect() ? 1 : 0,
            t.firstDue(),
            t.version(),
            t.attemptDue() == 0 ? "" : " " + t.attemptDue());
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static <T> Map<String, String> texts(
      Map<String, T> values, java.util.function.Function<T, String> form) {
    return values.entrySet().stream()
        .collect(Collectors.toMap(Map.Entry::getKey, entry -> form.apply(entry.getValue())));
  }
}
