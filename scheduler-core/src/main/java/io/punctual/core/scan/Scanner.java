package io.punctual.core.scan;

import io.punctual.core.DeathCause;
import io.punctual.core.Delivery;
import io.punctual.core.EngineOptions;
import io.punctual.core.PulledJob;
import io.punctual.core.QueueListener;
import io.punctual.core.RepeatCause;
import io.punctual.core.WakeCause;
import io.punctual.core.deliver.ClaimTime;
import io.punctual.core.deliver.Claimer;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.LogFields;
import io.punctual.core.job.Pause;
import io.punctual.core.membership.Owners;
import io.punctual.core.pull.Puller;
import io.punctual.core.pull.Pulls;
import io.punctual.core.recovery.Contact;
import io.punctual.core.recovery.Outages;
import io.punctual.core.store.Claim;
import io.punctual.core.store.Expired;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.query.BucketStats;
import io.punctual.core.wake.Capacity;
import io.punctual.core.wake.Role;
import io.punctual.core.wake.WakePlan;
import io.punctual.core.wake.WakeSignal;
import io.punctual.core.work.Backoff;
import io.punctual.core.work.Context;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands out the jobs of one bucket when they are due, one {@link #turn} after the other. It has no
 * thread: {@link ScanLoop} gives it turns when it asks for them or its signal is raised, and a test
 * gives them when it likes.
 *
 * <p>A <i>look</i> is a claim of what is due, at most as many jobs as {@link Capacity} allows; if
 * it refuses, the look only reads the counts. Each answer carries the store's time, the next due
 * time and the next lease deadline, and {@link WakePlan} makes of them when to look again. The
 * {@link WakeSignal} asks for a turn before that. A submit raises it when its job became the
 * earliest one (here, or on another engine by way of the store), {@link Capacity} when something
 * was given back, and the listening for wake-ups when its connection was away.
 *
 * <p>Of several engines only the bucket's owner looks when a job is due, see {@link Owners}. If it
 * has no capacity it offers the job to the others, which look as the owner does from then on for a
 * while. So do engines where a pull waits, and one that finds jobs that the owner should have
 * claimed long ago.
 *
 * <p>Leases are expired only right after a look, whose answer proves two things: by the store's own
 * clock the deadline has passed, and the store is answering. A call that hung while the store was
 * paused therefore expires nothing. After a silence {@link Contact} grants the holders one more
 * heartbeat. Leases that are kept here are extended first. If the store's clock was set forward
 * meanwhile, leases run on for the time that was left of them.
 *
 * <p>No turn ends with an exception: errors of the store make it wait with a back-off, defects are
 * shown in health, and a dispatcher that throws gets its jobs taken back.
 */
public final class Scanner {

  /** How many pulls are served before the dispatcher has its turn again. */
  private static final int PULLS_AT_ONCE = 16;

  private static final Duration DEFECT = Duration.ofSeconds(5);

  /** How long an engine helps the owner of a bucket. */
  private static final Duration HELP = Duration.ofSeconds(2);

  /** The time between two offers, so that those that help go on. */
  private static final Duration OFFER_AGAIN = HELP.dividedBy(2);

  /** The longest time between two offers of a job that no engine has capacity for. */
  private static final Duration OFFER_RARELY = Duration.ofSeconds(16);

  /**
   * How long an owner claims nothing before it offers a due job, if its dispatcher has capacity or
   * shares it: another bucket of the queue may have taken it for a moment, and the same instances
   * serve all schedulers.
   */
  private static final Duration STUCK = Duration.ofMillis(250);

  private static final Logger log = LoggerFactory.getLogger(Scanner.class);

  private final Bucket bucket;
  private final ScanContext shared;
  private final Context context;
  private final Capacity.Claimer capacity;
  private final WakeSignal signal;
  private final Claimer claimer;
  private final Puller puller;
  private final QueueListener listener;
  private final String duty;
  private final WakePlan plan;
  private final Owners.Ownership ownership;
  private final Backoff backoff = Backoff.ofStore();
  private long failingSince = Long.MAX_VALUE;
  private long expireFrom = Long.MIN_VALUE;
  private boolean pullsFirst;
  private boolean refused;
  // Nothing could go out before the first turn either.
  private boolean blocked = true;
  private boolean wasPaused;
  // When the dispatcher last had no capacity.
  private long refusedAt;
  // Until when the queue was last found paused, closed or at its limits, as far as that is known.
  private long shutAt = Long.MIN_VALUE / 2;
  private long claimedAt;
  private long offeredAt = Long.MIN_VALUE / 2;
  private long offeredDue = WakePlan.NEVER;
  private long offeredWait;
  private long helpsUntil = Long.MIN_VALUE / 2;
  private volatile Role role = Role.OWNER;
  private volatile boolean stopping;

  public Scanner(
      Bucket bucket,
      ScanContext shared,
      Capacity.Claimer capacity,
      WakeSignal signal,
      Claimer claimer,
      Puller puller,
      QueueListener listener) {
    this.bucket = bucket;
    this.shared = shared;
    this.context = shared.context();
    this.capacity = capacity;
    this.signal = signal;
    this.claimer = claimer;
    this.puller = puller;
    this.listener = listener;
    this.duty = "The scanner of " + bucket;
    this.ownership = shared.owners().of(bucket);
    this.plan =
        new WakePlan(
            () -> context.options().safetyCheck().apply(bucket.queue()), shared.idleChecks());
  }

  /** Claims no more, not even in a turn that is under way; returns at once. */
  void stop() {
    stopping = true;
    signal.ask();
  }

  /**
   * Looks at the bucket if it is time to.
   *
   * @param now monotonic ns
   * @return when it wants its next turn, monotonic ns, unless its signal is raised before
   */
  public long turn(long now) {
    try {
      return lookOrWait(now);
    } catch (RuntimeException | Error e) {
      failed(e);
      return now;
    }
  }

  private long lookOrWait(long now) {
    if (blocked) {
      // Also what has become due since the last turn waited for capacity.
      refusedAt = now;
    }
    WakeSignal.Raised raised = signal.take();
    plan.head(raised.head());
    plan.leased(raised.deadline());
    if (raised.asked()) {
      plan.ask();
    }
    if (raised.capacity()) {
      if (refused && role != Role.OWNER && plan.isDue(now)) {
        // The next safety check may be far away.
        plan.again();
      }
      refused = false;
    }
    if (raised.offered()) {
      helpsUntil = now + HELP.toNanos();
    }
    boolean pulled = shared.pulls().waits(bucket.queue());
    blocked = refused && !pulled;
    role = ownership.role();
    boolean first = role == Role.OWNER || pulled || now < helpsUntil;
    plan.role(role, ownership.members(), first);
    WakePlan.Look next = plan.next(now, blocked);
    if (next.at() <= now) {
      blocked = false;
      context.options().listener().woken(next.cause());
      tryToLook(next.cause());
      return now;
    }
    ScanSignals signals = shared.signals();
    if (signals != null) {
      if (blocked && plan.ready()) {
        signals.parked(bucket);
      }
      signals.asleep(bucket, next.at() - now, next.cause());
    }
    signal.aim(plan.aim(), plan.nextDeadline(), !first);
    if (ownership.role().compareTo(role) < 0) {
      // The members changed meanwhile, and whoever told so saw the part of before.
      return now;
    }
    return blocked && role == Role.OWNER && ownership.members() > 1 && shared.owners().hears()
        ? Math.min(next.at(), offer(now))
        : next.at();
  }

  /**
   * Offers a due job that has to wait for capacity to the other engines, from time to time.
   *
   * @return when to call this again
   */
  private long offer(long now) {
    long due = plan.nextDue();
    if (due == WakePlan.NEVER) {
      return WakePlan.NEVER;
    }
    long wait = due == offeredDue ? offeredWait : OFFER_AGAIN.toNanos();
    long at = Math.max(plan.dueAt(), offeredAt + wait);
    if (shared.dispatcher().runsElsewhere() || shared.dispatcher().hasCapacity(bucket.queue())) {
      at = Math.max(at, Math.max(plan.dueAt(), claimedAt) + STUCK.toNanos());
    }
    if (at > now) {
      return at;
    }
    if (due == offeredDue && !plan.lookedSince(offeredAt)) {
      // Another engine may have taken it, and a later job may have become the earliest.
      plan.again();
      return now;
    }
    offeredAt = now;
    offeredDue = due;
    offeredWait = Math.min(2 * wait, OFFER_RARELY.toNanos());
    Semaphore looks = shared.looks().begin(context.jobs().node(bucket));
    try {
      shared.members().offer(bucket, Math.max(0, due));
    } catch (StoreException e) {
      log.debug("{}: a due job was not offered: {}", bucket, e.getMessage());
    } finally {
      looks.release();
    }
    return now + offeredWait;
  }

  /** The members have changed: looks at once if this engine comes before others now. */
  public void membersChanged() {
    if (ownership.role().compareTo(role) < 0) {
      signal.ask();
    }
  }

  /** The due time of the next job that may go out, epoch ms, as far as the last turn saw. */
  public long nextDue() {
    return plan.nextDue();
  }

  /** The end of the next lease, epoch ms, as far as the last turn saw. */
  public long nextDeadline() {
    return plan.nextDeadline();
  }

  private void tryToLook(WakeCause cause) {
    Semaphore looks = shared.looks().begin(context.jobs().node(bucket));
    try {
      look(cause);
      claimer.giveBack();
      context.defects().worked(duty);
      if (plan.expires(context.now()) && !stopping) {
        expire();
      }
      if (claimer.lapses() && role == Role.OWNER && !stopping) {
        claimer.lapse();
      }
    } catch (RuntimeException | Error e) {
      failed(e);
    } finally {
      looks.release();
    }
  }

  // If both wait, pulls and the dispatcher come first in turns.
  private void look(WakeCause cause) {
    pullsFirst = !pullsFirst;
    boolean looked = pullsFirst && servePulls();
    looked |= serveDispatcher();
    if (!pullsFirst) {
      looked |= servePulls();
    }
    // A due job that was refused: the signal comes when that is over.
    if (!looked && cause != WakeCause.DUE) {
      count();
    }
  }

  private boolean serveDispatcher() {
    EngineOptions options = context.options();
    int free = capacity.take(options.maxClaim());
    refused = free == 0;
    if (refused) {
      refusedAt = context.now();
      return false;
    }
    try {
      long sent = context.now();
      long ends = capacity.ends();
      JobStore.ClaimMode mode =
          shared.dispatcher().runsElsewhere() ? JobStore.ClaimMode.SENT : JobStore.ClaimMode.PUSH;
      Claim claim = claimer.claim(free, options.lease(), mode, options.owner());
      claimed(sent, ends, claim);
      ClaimTime time = claimTime(sent, claim, refusedAt);
      int given = claim.jobs().size() + claim.corrupt().size();
      if (given >= free && free < options.maxClaim()) {
        // What is left waits for capacity.
        refusedAt = context.now();
      }
      handOut(claim, time);
      return true;
    } finally {
      capacity.give(free);
    }
  }

  private boolean servePulls() {
    Pulls pulls = shared.pulls();
    boolean looked = false;
    boolean found = true;
    for (int i = 0; i < PULLS_AT_ONCE && found && !stopping; i++) {
      Pulls.Waiting waiting = pulls.take(bucket.queue());
      if (waiting == null) {
        return looked;
      }
      try {
        looked = true;
        found = serve(waiting);
      } finally {
        pulls.putBack(waiting);
      }
    }
    return looked;
  }

  private boolean serve(Pulls.Waiting waiting) {
    long sent = context.now();
    long ends = capacity.ends();
    Claim claim = puller.claim(waiting.request, waiting.request.max());
    claimed(sent, ends, claim);
    ClaimTime time =
        claimTime(sent, claim, refused ? waiting.since() : Math.min(waiting.since(), refusedAt));
    List<PulledJob> open = puller.open(claim, time, waiting.request);
    if (!open.isEmpty() && !waiting.answer.complete(open)) {
      puller.giveBack(claim);
    } else {
      puller.handedOut(claim, time);
    }
    Long next = claim.nextDue();
    return next != null && next <= claim.now();
  }

  /**
   * @param since when there began to be a taker for the claim's jobs, monotonic ns
   */
  private ClaimTime claimTime(long sent, Claim claim, long since) {
    if (wasPaused) {
      // Resuming a queue wakes its scanners.
      shutAt = sent;
    }
    long roomFor = sent - Math.max(since, shutAt);
    wasPaused = claim.pausedSince() != null;
    Long next = claim.nextDue();
    if (claim.closed() || claim.full()) {
      shutAt = context.now();
    } else if (claim.held() && next != null) {
      shutAt = sent + TimeUnit.MILLISECONDS.toNanos(next - claim.now());
    }
    return new ClaimTime(sent, claim.now(), claim.openSince(), roomFor);
  }

  private void claimed(long sent, long ends, Claim claim) {
    answered(sent, claim.now());
    plan.due(orNever(claim.nextDue()));
    plan.deadline(orNever(claim.nextDeadline()));
    capacity.claimed(claim.full(), ends);
    long head = orNever(claim.nextDue());
    if (!claim.jobs().isEmpty()) {
      claimedAt = context.now();
      head = claim.jobs().get(0).dueTime();
    }
    if (role != Role.OWNER && head <= claim.now() - WakePlan.BACKUP.toMillis()) {
      helpsUntil = context.now() + HELP.toNanos();
    }
  }

  private void count() {
    long sent = context.now();
    BucketStats stats = context.jobs().stats(bucket);
    answered(sent, stats.now());
    Long due = stats.oldestReady() != null ? stats.oldestReady() : stats.nextDue();
    wasPaused = stats.pausedSince() != null;
    Long closedUntil = stats.closedUntil();
    // That is 0 while a claim has to find it out.
    claimer.paused(wasPaused || (closedUntil != null && closedUntil > 0));
    if (due != null && closedUntil != null) {
      due = Math.max(due, closedUntil);
    }
    if (due != null && wasPaused) {
      Long end = Pause.end(stats.pauses());
      due = end == null ? null : Long.valueOf(Math.max(due, end));
    }
    plan.due(orNever(due));
    if (stats.reserved() == 0) {
      plan.deadline(WakePlan.NEVER);
    } else if (!plan.deadlineKnown()) {
      // Which one it is, only an expire tells.
      plan.deadline(stats.now());
    }
  }

  private void expire() {
    claimer.keepLapsed();
    long sent = context.now();
    Expired expired =
        context.jobs().expire(bucket, JobStore.MAX_JOBS, plan.storeNow(), plan.jump());
    answered(sent, expired.now());
    plan.deadline(orNever(expired.nextDeadline()));
    if (expired.retried() > 0) {
      plan.head(expired.now());
      listener.repeated(RepeatCause.LEASE_EXPIRED, expired.retried());
    }
    if (expired.dead() > 0) {
      listener.died(DeathCause.LEASE_EXPIRED, expired.dead());
    }
    int ended = expired.retried() + expired.dead() + expired.cancelled();
    if (ended > 0) {
      capacity.ended(ended);
      LogFields.of(log.atWarn(), bucket.queue())
          .log(
              "{}: leases ran out, since a scheduler or worker went away: {} jobs wait again, {}"
                  + " are dead letters, {} had been told to stop and are cancelled",
              bucket,
              expired.retried(),
              expired.dead(),
              expired.cancelled());
    }
  }

  private void handOut(Claim claim, ClaimTime time) {
    List<Delivery> open = claimer.open(claim.jobs(), time);
    ScanSignals signals = shared.signals();
    if (signals != null) {
      signals.claimed(bucket, open.size());
    }
    if (open.isEmpty()) {
      return;
    }
    if (stopping) {
      for (Delivery delivery : open) {
        var unused = delivery.release();
      }
      return;
    }
    try {
      shared.dispatcher().dispatch(bucket.queue(), open);
    } catch (RuntimeException | Error e) {
      log.error("The dispatcher did not take {} jobs of {}", open.size(), bucket, e);
      ErrorNote note =
          new ErrorNote(context.options().owner(), "the dispatcher did not take it: " + e);
      for (Delivery delivery : open) {
        var unused = delivery.undeliverable(note, null);
      }
    }
  }

  private void answered(long sent, long storeNow) {
    long received = context.now();
    backoff.reset();
    reportClock(plan.answered(sent, received, storeNow), received);
    // The node of this bucket may have been away while others answered.
    long lease = context.options().lease().toNanos();
    if (received - Math.min(sent, failingSince) > lease / 2) {
      expireFrom = received + lease / 3;
    }
    failingSince = Long.MAX_VALUE;
    plan.expireFrom(Math.max(expireFrom, shared.contact().expireFrom()));
  }

  private void reportClock(long set, long nanos) {
    if (set != 0 && shared.contact().reportsClock(nanos)) {
      log.warn(
          "{}: the clock of Redis was set {} by {} ms. Jobs fall due by the new time; {}."
              + " Configure NTP to correct it in small steps",
          bucket,
          set > 0 ? "forward" : "back",
          Math.abs(set),
          set > 0
              ? "leases keep the time that they had left"
              : "jobs whose scheduler or worker has died are delivered again that much later");
    }
  }

  private void failed(Throwable e) {
    long now = context.now();
    failingSince = Math.min(failingSince, now);
    long wait = backoff.next(ThreadLocalRandom.current());
    if (e instanceof StoreException s) {
      if (s.kind() == StoreException.Kind.CORRUPT) {
        wait = Outages.QUARANTINE.toNanos();
      }
    } else if (!stopping) {
      context.defects().met(duty, e);
      wait = DEFECT.toNanos();
    }
    plan.failed(now, wait);
    ScanSignals signals = shared.signals();
    if (signals != null) {
      signals.failed(bucket);
    }
  }

  private static long orNever(@Nullable Long millis) {
    return millis == null ? WakePlan.NEVER : millis;
  }

  @Override
  public String toString() {
    return bucket.toString();
  }
}
