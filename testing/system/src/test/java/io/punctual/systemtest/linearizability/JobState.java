package io.punctual.systemtest.linearizability;

import org.jspecify.annotations.Nullable;

/**
 * A job id in the sequential model.
 *
 * @param content null where there is no job and no tombstone of one that is done
 * @param incarnation null while nobody has seen it
 * @param version the least that it can be
 * @param exact whether the version is known
 * @param dueFrom the earliest that the due time can be, epoch µs; of a job in delivery the one that
 *     it had when it was claimed
 * @param dueTo the latest that it can be
 * @param attempt the number of the next attempt, or of the one under way
 * @param once whether the job has one attempt only
 * @param token of the lease; null where there is none
 * @param leaseFrom the earliest that the lease can be over, epoch µs
 * @param pulled whether a puller has the lease
 * @param restored whether a cancel of this incarnation was undone
 */
record JobState(
    Phase phase,
    @Nullable String content,
    @Nullable String incarnation,
    long version,
    boolean exact,
    long dueFrom,
    long dueTo,
    int attempt,
    boolean once,
    @Nullable String token,
    long leaseFrom,
    boolean pulled,
    boolean restored) {

  /** Where a job can be. */
  enum Phase {
    ABSENT,
    WAITING,
    IN_DELIVERY,
    DEAD,
    FINISHED,
    CANCELLED
  }

  /** Nothing was ever there. */
  static final JobState NONE =
      new JobState(Phase.ABSENT, null, null, 0, false, 0, 0, 1, false, null, 0, false, false);

  /** A new job. */
  static JobState waiting(String content, long dueFrom, long dueTo, boolean once) {
    return new JobState(
        Phase.WAITING, content, null, 1, false, dueFrom, dueTo, 1, once, null, 0, false, false);
  }

  /** The same in all that is no bound. */
  JobState withoutBounds() {
    return new JobState(
        phase, content, incarnation, 0, false, 0, 0, attempt, once, token, 0, pulled, restored);
  }

  /** Whether this one, which is the same but for its bounds, leaves all that the other leaves. */
  boolean covers(JobState other) {
    return dueFrom <= other.dueFrom
        && dueTo >= other.dueTo
        && leaseFrom <= other.leaseFrom
        && (exact ? other.exact && version == other.version : version <= other.version);
  }

  boolean is(Phase other) {
    return phase == other;
  }

  /** Without a job, and without an attempt. */
  JobState ended(Phase end) {
    return new JobState(
        end, content, incarnation, 0, false, 0, 0, attempt, once, null, 0, false, false);
  }

  /** Cancelled, and kept as it is. */
  JobState cancelled() {
    return changed(Phase.CANCELLED, dueFrom, dueTo, attempt, null, 0, false, false);
  }

  /** Waiting as it was before its cancel, and due at the undo if it was due before that. */
  JobState uncancelled(long from, long to) {
    return changed(
        Phase.WAITING, Math.max(dueFrom, from), Math.max(dueTo, to), attempt, null, 0, false, true);
  }

  /** Waiting with another due time. */
  JobState due(long from, long to) {
    return changed(Phase.WAITING, from, to, attempt, null, 0, false);
  }

  /** Waiting with other content, which is another incarnation. */
  JobState revised(String newContent) {
    return new JobState(
        Phase.WAITING,
        newContent,
        null,
        version + 1,
        false,
        dueFrom,
        dueTo,
        attempt,
        once,
        null,
        0,
        false,
        false);
  }

  /** In delivery. */
  JobState leased(String by, long until, boolean byPuller) {
    return changed(Phase.IN_DELIVERY, dueFrom, dueTo, attempt, by, until, byPuller);
  }

  /** Waiting for its next attempt, or for the same one. */
  JobState back(long from, long to, int nextAttempt) {
    return changed(Phase.WAITING, from, to, nextAttempt, null, 0, false);
  }

  /** A dead letter. */
  JobState dead() {
    return changed(Phase.DEAD, 0, 0, attempt + 1, null, 0, false);
  }

  private JobState changed(
      Phase next,
      long from,
      long to,
      int nextAttempt,
      @Nullable String by,
      long until,
      boolean byPuller) {
    return changed(next, from, to, nextAttempt, by, until, byPuller, restored);
  }

  private JobState changed(
      Phase next,
      long from,
      long to,
      int nextAttempt,
      @Nullable String by,
      long until,
      boolean byPuller,
      boolean isRestored) {
    return new JobState(
        next,
        content,
        incarnation,
        version + 1,
        false,
        from,
        to,
        nextAttempt,
        once,
        by,
        until,
        byPuller,
        isRestored);
  }

  /** The same, of which more is known. */
  JobState known(
      @Nullable String ofIncarnation, long ofVersion, boolean exactly, long from, long to) {
    return new JobState(
        phase,
        content,
        ofIncarnation,
        ofVersion,
        exactly,
        from,
        to,
        attempt,
        once,
        token,
        leaseFrom,
        pulled,
        restored);
  }
}
