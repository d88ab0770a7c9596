package io.punctual.server.dispatch;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Whether an instance takes requests. One that was not reached is avoided for a while and then
 * probed with one job; one that wants no more jobs of a task type is avoided for that type alone.
 * Times are those of {@link System#nanoTime}. Not thread-safe.
 */
final class Reachability {

  private final long takenAfter;
  private boolean avoided;
  private long avoidUntil;
  private boolean probing;
  private long probedAt;
  private @Nullable Map<String, Long> retired;

  /**
   * @param takenAfter ns after which a request that was not refused counts as taken, though no
   *     answer has begun: more than it takes to connect, or to fail in it
   */
  Reachability(long takenAfter) {
    this.takenAfter = takenAfter;
  }

  /** How many of so many jobs may be sent now. */
  int allowed(long now, int wanted) {
    if ((avoided && now - avoidUntil < 0) || isProbing(now)) {
      return 0;
    }
    return avoided ? Math.min(1, wanted) : wanted;
  }

  /** Whether the instance takes jobs of the type. */
  boolean takes(String taskType, long now) {
    Long until = retired == null ? null : retired.get(taskType);
    return until == null || now - until >= 0;
  }

  /** Whether it is reached, as far as is known. */
  boolean isReached(long now) {
    return !avoided && !isProbing(now);
  }

  /** Whether a job is on its way of which it is not known yet whether it was taken. */
  private boolean isProbing(long now) {
    return probing && now - probedAt < takenAfter;
  }

  /** For how many ns it is avoided yet; 0 if it is not. */
  long avoidedFor(long now) {
    return avoided ? Math.max(0, avoidUntil - now) : 0;
  }

  boolean isAvoided() {
    return avoided;
  }

  /** A job is on its way there. */
  void sending(long now) {
    if (avoided) {
      avoided = false;
      probing = true;
      probedAt = now;
    }
  }

  /** A job that was on its way is not there. */
  void ended(long now) {
    if (isProbing(now)) {
      // Whether it takes jobs is not known yet: the next one probes.
      probing = false;
      avoided = true;
    }
  }

  void reached() {
    avoided = false;
    probing = false;
  }

  void avoid(long now, long howLong) {
    avoided = true;
    probing = false;
    avoidUntil = now + howLong;
  }

  void retire(String taskType, long now, long howLong) {
    if (retired == null) {
      retired = new HashMap<>();
    }
    retired.values().removeIf(until -> now - until >= 0);
    retired.put(taskType, now + howLong);
  }
}
