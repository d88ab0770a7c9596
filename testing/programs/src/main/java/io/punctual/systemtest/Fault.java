package io.punctual.systemtest;

import java.time.Duration;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Something that a test broke. It explains that a job ran once more if it can, if the run before
 * was in the hands of what broke, and if that run was under way then: it had begun, and its end had
 * not certainly been written down in Redis.
 *
 * @param what for people
 * @param from when it broke, epoch microseconds
 * @param until when it worked again, epoch microseconds
 * @param effect what can come of it
 * @param hit whether a run was in the hands of what broke, whenever that was
 * @param holdsDeliveries whether a delivery may stay on its way for so long that its lease is over,
 *     and begin although its job was changed meanwhile
 */
public record Fault(
    String what,
    long from,
    long until,
    Effect effect,
    Predicate<Execution> hit,
    boolean holdsDeliveries) {

  // A request that was written just before the fault begins a little later; an answer that was
  // given just before it may not have reached Redis; on a machine that has more to do than it has
  // cores, some 1,050 ms were seen.
  private static final long SLACK = Duration.ofSeconds(2).toNanos() / 1000;

  /** What can come of a fault. */
  public enum Effect {
    /** No job runs once more because of it, and no answer takes longer. */
    NONE,
    /** No job runs once more because of it alone; answers that are under way stay so. */
    DELAYS,
    /**
     * What it hit stands still for as long as it lasts: jobs that may run for less may run once
     * more, elsewhere. Answers that are under way stay so.
     */
    HOLDS,
    /** Jobs that are under way may run once more. */
    REPEATS,
    /** The same, also while the run that is under way goes on: its claim is forgotten. */
    FORGETS
  }

  /** One that holds no delivery on its way. */
  public Fault(String what, long from, long until, Effect effect, Predicate<Execution> hit) {
    this(what, from, until, effect, hit, /* holdsDeliveries= */ false);
  }

  /** One that may have hit whatever was under way. */
  public Fault(String what, long from, long until) {
    this(what, from, until, Effect.REPEATS, run -> true);
  }

  /** Breaks something, or breaks and mends it; the fault lasts as long as the action. */
  public static Fault of(String what, Runnable action) {
    return of(
        what,
        Effect.REPEATS,
        () -> {
          action.run();
          return run -> true;
        });
  }

  /**
   * Breaks something, or breaks and mends it; the fault lasts as long as the action.
   *
   * @param action answers which runs were in the hands of what it broke
   */
  public static Fault of(String what, Effect effect, Supplier<Predicate<Execution>> action) {
    long from = EpochMicros.now();
    Predicate<Execution> hit = action.get();
    return new Fault(what, from, EpochMicros.now(), effect, hit);
  }

  /** Returns the same fault, which may hold deliveries on their way. */
  public Fault holdingDeliveries() {
    return new Fault(what, from, until, effect, hit, /* holdsDeliveries= */ true);
  }

  /** Whether a run may have begun after its lease because this held its delivery on the way. */
  boolean delayedDelivery(Execution run) {
    return holdsDeliveries && from <= run.begin() && meets(run, run.begin());
  }

  /**
   * Whether a job can run once more because of it.
   *
   * @param limit how long the job may run, microseconds
   */
  boolean repeats(long limit) {
    return effect == Effect.REPEATS || effect == Effect.FORGETS || outlasts(limit);
  }

  /** Whether the claim of a run that was under way may be forgotten because of it. */
  boolean forgets(Execution run) {
    return effect == Effect.FORGETS && meets(run, answered(run));
  }

  private boolean outlasts(long limit) {
    return effect == Effect.HOLDS && until - from > limit;
  }

  /**
   * Whether a run may have begun so late because of it that its time was over before: it was sent
   * elsewhere by then.
   *
   * @param limit how long the job may run, microseconds
   */
  boolean heldUp(Execution run, long limit) {
    return outlasts(limit) && meets(run, run.begin());
  }

  /**
   * Whether a run was under way at any time of the fault.
   *
   * @param answered until when its end may have been on its way to Redis, epoch microseconds
   */
  boolean meets(Execution run, long answered) {
    return effect != Effect.NONE
        && run.begin() <= until + SLACK
        && answered >= from
        && hit.test(run);
  }

  /** From when on a run's time may have been counted. */
  static long sent(Execution run) {
    return Math.min(run.claimed(), run.begin() - SLACK);
  }

  /** Until when a run's end may have been on its way to Redis, if nothing broke meanwhile. */
  static long answered(Execution run) {
    Long end = run.end();
    return end == null ? Long.MAX_VALUE : end + SLACK;
  }

  /** The same if this broke meanwhile. */
  long delayed(long answered) {
    return Math.max(answered, until + SLACK);
  }
}
