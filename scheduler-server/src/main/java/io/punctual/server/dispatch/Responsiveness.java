package io.punctual.server.dispatch;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Whether an instance answers the jobs that it takes. It hangs once several in a row were not
 * answered in their time and no other was answered meanwhile; then it is probed with one job from
 * time to time. Times are those of {@link System#nanoTime}. Not thread-safe.
 */
final class Responsiveness {

  /** So many jobs in a row that are not answered in time make an instance one that hangs. */
  static final int TIMES_OVER = 3;

  private static final long LONGEST_PAUSE = Duration.ofMinutes(1).toNanos();

  private final long firstPause;
  private int timesOver;
  private boolean everAnswered;
  private long answeredAt;
  private boolean hangs;
  private boolean probed;
  private long probedAt;
  private int timesHung;
  private long hangsSince;
  private long hangsUntil;

  /**
   * @param firstPause ns for which one that hangs is avoided at first; doubled each time, up to a
   *     minute
   */
  Responsiveness(long firstPause) {
    this.firstPause = firstPause;
  }

  boolean hangs() {
    return hangs;
  }

  /** Whether it is avoided as long as another instance answers. */
  boolean isPassedOver(long now) {
    return hangs && (probed || now - hangsUntil < 0);
  }

  /** For how many ns it is avoided yet; 0 if it is not. */
  long avoidedFor(long now) {
    return hangs ? Math.max(0, hangsUntil - now) : 0;
  }

  /** Whether it answered a job since then. */
  boolean hasAnsweredSince(long time) {
    return everAnswered && answeredAt - time >= 0;
  }

  void sending(long now) {
    if (hangs && now - hangsUntil >= 0) {
      probed = true;
      probedAt = now;
    }
  }

  void ended(long sentAt) {
    if (sentAt - probedAt >= 0) {
      probed = false;
    }
  }

  /** It said what became of a job; answers whether it had been hanging. */
  boolean answered(long now) {
    everAnswered = true;
    answeredAt = now;
    timesOver = 0;
    timesHung = 0;
    boolean before = hangs;
    hangs = false;
    return before;
  }

  /**
   * It did not answer a job in time.
   *
   * @return for how long it is avoided since this one; null if it is not
   */
  @Nullable Duration timeOver(long sentAt, long now) {
    // What was sent before it was known to hang says nothing new.
    if (hasAnsweredSince(sentAt) || (hangs && sentAt - hangsSince <= 0)) {
      return null;
    }
    timesOver++;
    if (!hangs && timesOver < TIMES_OVER) {
      return null;
    }
    long pause = firstPause;
    for (int i = 0; i < timesHung && pause < LONGEST_PAUSE; i++) {
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    }
    timesHung++;
    hangs = true;
    probed = false;
    hangsSince = now;
    hangsUntil = now + pause;
    return Duration.ofNanos(pause);
  }
}
