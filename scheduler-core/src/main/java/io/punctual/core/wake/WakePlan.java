package io.punctual.core.wake;

import io.punctual.core.WakeCause;
import io.punctual.core.store.ClockJump;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Plans when a scanner checks its bucket next, and why. It has no thread and no clock: time is a
 * parameter, in monotonic nanoseconds. Times of the store are in its own epoch milliseconds.
 *
 * <p>The next look is at the earliest of
 *
 * <ul>
 *   <li>the next due time, unless there is no room for another job; for the deputy of the bucket's
 *       owner some time later, and for other engines not at all;
 *   <li>the next lease deadline, but not before leases may be expired;
 *   <li>the safety check, which needs nobody's message: a fixed time after the last look while
 *       something is near, else the bucket's turn among all idle ones; for others than the owner
 *       always that turn, and the less often the more engines there are;
 * </ul>
 *
 * and after an error not before its back-off is over.
 */
public final class WakePlan {

  /** No such time. */
  public static final long NEVER = Long.MAX_VALUE;

  /** What is nearer than this gets the fixed safety check. */
  static final Duration NEAR = Duration.ofSeconds(5);

  /** The next look. */
  public record Look(long at, WakeCause cause) {}

  /** How long after the due time the deputy looks. */
  public static final Duration BACKUP = Duration.ofSeconds(2);

  /** The bounds of the safety check. */
  static final Duration MIN_CHECK = Duration.ofMillis(10);

  static final Duration MAX_CHECK = Duration.ofMinutes(1);

  private final Supplier<Duration> safetyCheck;
  private final IdleChecks idle;
  private final StoreTime time = new StoreTime();
  private boolean asked = true;
  private long nextDue = NEVER;
  private long nextDeadline = NEVER;
  private long expireFrom = Long.MIN_VALUE;
  private long notBefore = Long.MIN_VALUE;
  private long lastLook = Long.MIN_VALUE;
  private long slot = Long.MIN_VALUE;
  private Role role = Role.OWNER;
  private int members = 1;
  private boolean first = true;

  public WakePlan(Supplier<Duration> safetyCheck, IdleChecks idle) {
    this.safetyCheck = safetyCheck;
    this.idle = idle;
  }

  /**
   * Which part this engine has from now on. One that becomes the owner looks at once, and forgets
   * which lease ends next: jobs may be reserved that it has not heard of.
   *
   * @param among so many engines
   * @param first whether it looks when a job is due, as the owner does, for whatever reason
   */
  public void role(Role now, int among, boolean first) {
    if (now == Role.OWNER && role != Role.OWNER) {
      asked = true;
      nextDeadline = NEVER;
    }
    if (among != members) {
      // The turns were as far apart as suited another number of engines.
      slot = Long.MIN_VALUE;
    }
    this.role = now;
    this.members = among;
    this.first = first;
  }

  /** A job with this due time is there now. */
  public void head(long due) {
    nextDue = Math.min(nextDue, due);
  }

  /** Something may have been missed: look at once, and do not wait for a back-off. */
  public void ask() {
    asked = true;
    notBefore = Long.MIN_VALUE;
  }

  /** A look was in vain: look again at once, but not before a back-off is over. */
  public void again() {
    asked = true;
  }

  /**
   * The store answered; its clock showed {@code now} at some moment between the two.
   *
   * @return by how many ms that clock was set, see {@link StoreTime#sample}
   */
  public long answered(long sent, long received, long now) {
    asked = false;
    notBefore = Long.MIN_VALUE;
    lastLook = received;
    return time.sample(sent, received, now);
  }

  /** The due time of the earliest waiting job, as the store said. */
  public void due(long millis) {
    nextDue = millis;
  }

  /** The earliest lease deadline, as the store said. */
  public void deadline(long millis) {
    nextDeadline = millis;
  }

  /** A lease with this deadline was made. */
  public void leased(long millis) {
    nextDeadline = Math.min(nextDeadline, millis);
  }

  /** The earliest lease deadline that is known. */
  public long nextDeadline() {
    return nextDeadline;
  }

  /** The store failed; leave it alone for that long. */
  public void failed(long nanos, long backoff) {
    lastLook = nanos;
    notBefore = nanos + backoff;
  }

  /** No lease may be expired before that moment. */
  public void expireFrom(long nanos) {
    expireFrom = nanos;
  }

  /** Whether a lease has run out by the store's own clock, and may be expired. */
  public boolean expires(long nanos) {
    return nextDeadline <= time.lastNow() && nanos >= expireFrom;
  }

  /** The store's time when it last answered, epoch ms. */
  public long storeNow() {
    return time.lastNow();
  }

  /** The last time that the store's clock was set forward. */
  public ClockJump jump() {
    return time.jump();
  }

  /** Whether the deadline is known. */
  public boolean deadlineKnown() {
    return nextDeadline != NEVER;
  }

  /** Whether a job was due when the store last answered. */
  public boolean ready() {
    return nextDue <= time.lastNow();
  }

  /** Whether a job is due by now, as far as is known. */
  public boolean isDue(long nanos) {
    return nextDue != NEVER && time.at(nextDue) <= nanos;
  }

  /** Whether the last look, successful or not, was at that moment or later. */
  public boolean lookedSince(long nanos) {
    return lastLook >= nanos;
  }

  /** The due time that is aimed at. */
  public long nextDue() {
    return nextDue;
  }

  /** Due times earlier than this change the plan. */
  public long aim() {
    return first || role == Role.DEPUTY ? nextDue : Long.MIN_VALUE;
  }

  /**
   * The next look.
   *
   * @param blocked whether there is no room for another job
   */
  public Look next(long nanos, boolean blocked) {
    if (asked) {
      return new Look(Math.max(nanos, notBefore), WakeCause.ASKED);
    }
    long due = blocked ? NEVER : dueAt();
    long deadline = nextDeadline == NEVER ? NEVER : Math.max(time.at(nextDeadline), expireFrom);
    boolean near = first && Math.min(due, deadline) <= nanos + NEAR.toNanos();
    long safety = near ? lastLook + check() : turn();
    Look look =
        due <= deadline ? new Look(due, WakeCause.DUE) : new Look(deadline, WakeCause.DEADLINE);
    if (safety < look.at()) {
      look = new Look(safety, WakeCause.SAFETY);
    }
    return look.at() < notBefore ? new Look(notBefore, look.cause()) : look;
  }

  /**
   * When it looks for the sake of a due job, monotonic ns, if there is room for it; {@link #NEVER}
   * if it does not.
   */
  public long dueAt() {
    if (nextDue == NEVER) {
      return NEVER;
    } else if (first) {
      return time.at(nextDue);
    }
    return role == Role.DEPUTY ? Math.max(time.at(nextDue), lastLook) + BACKUP.toNanos() : NEVER;
  }

  private long check() {
    long wanted = safetyCheck.get().toNanos();
    return Math.max(MIN_CHECK.toNanos(), Math.min(MAX_CHECK.toNanos(), wanted));
  }

  private long turn() {
    if (slot <= lastLook) {
      slot = idle.reserve(lastLook + (first ? 1 : members) * check(), members);
    }
    return slot;
  }
}
