package io.punctual.core.deliver;

import io.punctual.core.DeathCause;
import io.punctual.core.Delivery;
import io.punctual.core.QueueListener;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.CorruptContentException;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobContentCodec;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.JobState;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.LogFields;
import io.punctual.core.job.Opening;
import io.punctual.core.job.RandomNames;
import io.punctual.core.store.Claim;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.query.Page;
import io.punctual.core.times.Hours;
import io.punctual.core.times.StartTimes;
import io.punctual.core.wake.Capacity;
import io.punctual.core.wake.StoreClock;
import io.punctual.core.wake.WakeSignal;
import io.punctual.core.work.Context;
import io.punctual.schedule.TimeRules;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims jobs of one bucket, opens deliveries of them, and gives back what a claim took whose
 * answer never came.
 *
 * <p>A store that stands still executes, once it goes on, what was sent to it meanwhile, though
 * nobody waits for the answers any more. The jobs of such a claim would be nobody's until their
 * lease runs out, and take up the places of a bounded queue. The token of the lease is ours: with
 * it they are released, untried, as soon as the store answers again.
 */
public final class Claimer {

  private static final Logger log = LoggerFactory.getLogger(Claimer.class);

  /** How many claims are remembered, the latest; what others took waits for its lease to end. */
  private static final int REMEMBERED = 64;

  /** The time between two looks for jobs that could not start in time. */
  private static final Duration LAPSE = Duration.ofSeconds(10);

  private static final Duration LOOK_AGAIN = Duration.ofSeconds(5);

  private static final int HOURS_TRIES = 3;

  private final Bucket bucket;
  private final Context context;
  private final LeaseKeeper keeper;
  private final Settler settler;
  private final RetryDelays retryDelays;
  private final StoreClock clock;
  private final StartTimes times;
  private final Capacity.Claimer capacity;
  private final WakeSignal signal;
  private final QueueListener listener;
  private final Deque<LeaseToken> unanswered = new ArrayDeque<>();
  private boolean closed;
  private volatile boolean paused;
  private volatile boolean lapsing;
  private volatile boolean unknownHours;
  private long lapsedAt;

  public Claimer(
      Bucket bucket,
      Context context,
      LeaseKeeper keeper,
      Settler settler,
      RetryDelays retryDelays,
      StoreClock clock,
      StartTimes times,
      Capacity.Claimer capacity,
      WakeSignal signal,
      QueueListener listener) {
    this.bucket = bucket;
    this.context = context;
    this.keeper = keeper;
    this.settler = settler;
    this.retryDelays = retryDelays;
    this.clock = clock;
    this.times = times;
    this.lapsedAt = context.now();
    this.capacity = capacity;
    this.signal = signal;
    this.listener = listener;
  }

  /**
   * Claims what is due, and reports the jobs among it that had lost their record. Where the hours
   * of the queue cannot be found out, nothing is due for a few seconds.
   *
   * @throws StoreException if the store was not reached or refused; what it took all the same is
   *     given back by {@link #giveBack}
   */
  public Claim claim(int max, Duration lease, JobStore.ClaimMode mode, String owner) {
    Claim claim = tryToClaim(max, lease, mode, owner);
    // Others may change the hours at the same time.
    for (int i = 0; i < HOURS_TRIES && claim.hours() != null; i++) {
      Opening opening = openingOrNull(claim.hours(), claim.now());
      if (opening == null) {
        claim = claim.notWithin(LOOK_AGAIN.toMillis());
        break;
      }
      context.jobs().opening(bucket, claim.hours(), opening);
      claim = tryToClaim(max, lease, mode, owner);
    }
    paused = claim.pausedSince() != null || claim.closed();
    if (!claim.corrupt().isEmpty()) {
      listener.died(DeathCause.CORRUPT, claim.corrupt().size());
      LogFields.of(log.atError(), bucket.queue(), claim.corrupt().get(0))
          .log(
              "{}: {} jobs had lost their record and are dead letters now, the first is {}",
              bucket,
              claim.corrupt().size(),
              claim.corrupt().get(0));
    }
    return startable(claim);
  }

  // Another engine may know them, and what is not handed out goes on: leases end, jobs expire.
  private @Nullable Opening openingOrNull(String hours, long now) {
    try {
      Opening opening = times.opening(Hours.read(hours), now);
      unknownHours = false;
      return opening;
    } catch (StoreException | CorruptContentException e) {
      if (!unknownHours) {
        unknownHours = true;
        LogFields.of(log.atError(), bucket.queue())
            .log(
                "{} stays closed, since its hours could not be found out: {}. It is tried again"
                    + " every {} s",
                bucket,
                e.getMessage(),
                LOOK_AGAIN.toSeconds());
      }
      return null;
    }
  }

  private Claim tryToClaim(int max, Duration lease, JobStore.ClaimMode mode, String owner) {
    LeaseToken token = RandomNames.leaseToken();
    try {
      Claim claim = context.jobs().claim(bucket, max, lease, mode, token, owner);
      clock.answered(claim.now());
      return claim;
    } catch (StoreException e) {
      if (e.kind() == StoreException.Kind.UNREACHABLE) {
        remember(token);
      }
      throw e;
    }
  }

  /**
   * Leaves out the jobs that must not start now, and ends them or gives them back. Every delivery
   * passes here, in push, pull and plugin mode.
   */
  private Claim startable(Claim claim) {
    List<ClaimedJob> others = null;
    for (ClaimedJob job : claim.jobs()) {
      Settlement instead =
          JobContentCodec.hasTimeRules(job.record().content()) ? instead(job, claim.now()) : null;
      if (instead != null) {
        others = others == null ? new ArrayList<>() : others;
        others.add(job);
        lapsing |= instead.op() == Settlement.Op.EXPIRED;
        var unused = settler.keep(instead);
      }
    }
    if (others == null) {
      return claim;
    }
    List<ClaimedJob> left = new ArrayList<>(claim.jobs());
    left.removeAll(others);
    return claim.with(List.copyOf(left));
  }

  /** Returns the settlement of a job that must not start now; null if it may start. */
  private @Nullable Settlement instead(ClaimedJob job, long now) {
    JobContent content = JobRecord.readOrNull(job.record());
    if (content == null) {
      return null;
    }
    TimeRules rules = content.timeRules();
    long last = StartTimes.last(rules, job.record().acceptedAt());
    long next;
    try {
      next = now > last ? now : times.next(job.taskId(), rules, now, last);
    } catch (StoreException e) {
      // Its calendar is not known yet.
      return retryDelays.postponed(job, LOOK_AGAIN);
    }
    if (next > last || now > last) {
      return retryDelays.expired(job);
    } else if (next == now) {
      return null;
    }
    return retryDelays.postponed(
        job, next == StartTimes.NEVER ? Duration.ofDays(1) : Duration.ofMillis(next - now));
  }

  /**
   * Whether it is time to look for jobs that could not start in time: after one was met, and from
   * time to time, since a queue that stands still is not claimed from.
   */
  public boolean lapses() {
    return lapsing || context.now() - lapsedAt >= LAPSE.toNanos();
  }

  /** Takes jobs out that could not start in time, at most so many that others have their turn. */
  public void lapse() {
    lapsing = false;
    lapsedAt = context.now();
    JobStore.Lapsed lapsed = context.jobs().lapse(bucket, JobStore.MAX_JOBS);
    lapsing = lapsed.more();
    if (lapsed.dead() > 0) {
      listener.died(DeathCause.EXPIRED, lapsed.dead());
      LogFields.of(log.atWarn(), bucket.queue())
          .log(
              "{}: {} jobs could not start in time and are dead letters now",
              bucket,
              lapsed.dead());
    }
    if (lapsed.dropped() > 0) {
      listener.dropped(lapsed.dropped());
    }
    if (lapsing || lapsed.dead() + lapsed.dropped() > 0) {
      // What waited for the end of one may be due.
      signal.ask();
    }
  }

  /** One for each job, in order; one whose content cannot be read becomes a dead letter instead. */
  public List<Delivery> open(List<ClaimedJob> jobs, ClaimTime time) {
    List<OpenDelivery> open = new ArrayList<>(jobs.size());
    for (ClaimedJob job : jobs) {
      try {
        open.add(
            new OpenDelivery(
                bucket.queue(),
                job,
                job.record().read(),
                retryDelays,
                settler,
                keeper,
                context.ticks(),
                time,
                context.options().lease()));
      } catch (CorruptContentException e) {
        bury(job, e);
      }
    }
    keeper.opened(open);
    return List.copyOf(open);
  }

  /** Makes a dead letter of a job whose content cannot be read. */
  public void bury(ClaimedJob job, CorruptContentException e) {
    LogFields.of(log.atError(), bucket.queue(), job.taskId())
        .log(
            "{}: what is stored of job {} cannot be read: {}",
            bucket,
            job.taskId(),
            e.getMessage());
    ErrorNote note = new ErrorNote("", String.valueOf(e.getMessage()));
    var unused = settler.keep(retryDelays.rejected(job, note));
  }

  /** See {@link LeaseKeeper#keepLapsed}. */
  public void keepLapsed() {
    keeper.keepLapsed();
  }

  /** Whether the bucket is paused or closed, as it was last seen. */
  public boolean isPaused() {
    return paused;
  }

  /** The bucket was looked at without a claim. */
  public void paused(boolean since) {
    paused = since;
  }

  /** Forgets the claims that had no answer: their leases run out. */
  public void close() {
    synchronized (unanswered) {
      closed = true;
      unanswered.clear();
    }
  }

  /** How many claims are remembered whose answers were lost. */
  public int unanswered() {
    synchronized (unanswered) {
      return unanswered.size();
    }
  }

  private void remember(LeaseToken claim) {
    synchronized (unanswered) {
      if (closed) {
        return;
      }
      unanswered.addLast(claim);
      if (unanswered.size() > REMEMBERED) {
        unanswered.removeFirst();
      }
    }
    // A lease that nobody keeps may be there: the scanner is to look once its back-off is over.
    signal.deadline(0);
  }

  /**
   * Releases what claims took whose answers were lost. To be called when the store has answered a
   * call that was made after them: it has executed them by then, or never will.
   */
  public void giveBack() {
    List<LeaseToken> claims;
    synchronized (unanswered) {
      claims = List.copyOf(unanswered);
    }
    if (claims.isEmpty()) {
      return;
    }
    Set<LeaseToken> tokens = Set.copyOf(claims);
    Set<String> known = new HashSet<>();
    keeper.open().forEach(delivery -> known.add(delivery.taskId()));
    int released = 0;
    Cursor after = null;
    do {
      Page page = context.jobs().list(bucket, JobState.RESERVED, after, JobStore.MAX_JOBS);
      List<JobView> held =
          page.jobs().stream()
              .filter(job -> job.lease() != null && tokens.contains(job.lease().token()))
              .filter(job -> !known.contains(job.taskId()))
              .toList();
      released += release(held);
      after = page.next();
    } while (after != null);
    synchronized (unanswered) {
      unanswered.removeAll(claims);
    }
    if (released > 0) {
      LogFields.of(log.atInfo(), bucket.queue())
          .log(
              "{}: {} jobs had been claimed by calls whose answers were lost; they wait again",
              bucket,
              released);
    }
  }

  private int release(List<JobView> held) {
    if (held.isEmpty()) {
      return 0;
    }
    int released = 0;
    for (Settled settled :
        context.jobs().settle(bucket, held.stream().map(Claimer::end).toList())) {
      if (settled.kind() == Settled.Kind.RETRY) {
        released++;
        signal.head(settled.at());
      }
    }
    capacity.ended(released);
    return released;
  }

  private static Settlement end(JobView job) {
    return new Settlement(
        Settlement.Op.RETURNED,
        job.taskId(),
        job.record() == null ? "" : job.record().incarnation(),
        Objects.requireNonNull(job.lease()).token(),
        Duration.ZERO,
        /* alone= */ false,
        new byte[0]);
  }
}
