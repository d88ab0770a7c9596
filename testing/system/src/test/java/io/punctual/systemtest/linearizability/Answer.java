package io.punctual.systemtest.linearizability;

import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a call was answered.
 *
 * @param outcome which case it is
 * @param content of the job; null where the answer has none
 * @param incarnation of the job; null where the answer has none
 * @param version of the job; 0 where the answer has none
 * @param due the due time of the job, epoch µs; 0 where the answer has none
 * @param attempt its number; 0 where the answer has none
 * @param confirmed whether a replica had confirmed it
 */
record Answer(
    Outcome outcome,
    @Nullable String content,
    @Nullable String incarnation,
    long version,
    long due,
    int attempt,
    boolean confirmed) {

  /** All cases of all calls. */
  enum Outcome {
    // Of a submit.
    CREATED,
    THERE,
    DONE_BEFORE,
    REPLACED,
    CONFLICT,
    CONFLICT_DONE,
    // Of a change.
    CANCELLED,
    RESTORED,
    RESCHEDULED,
    REVISED,
    REQUEUED,
    CHANGED_MEANWHILE,
    // Of an undo: there is a job that was not cancelled.
    EXISTS,
    // The state that a change did not like, or that a look found.
    WAITING,
    IN_DELIVERY,
    FINISHED,
    DEAD,
    NOT_FOUND,
    // The list of the tag did not have the job.
    NOT_LISTED,
    // A delivery, a loss; or the end of an attempt, whatever that changed.
    HAPPENED,
    // Of the end of a pulled job.
    ENDED,
    RETRIED,
    ALREADY,
    GONE,
    LEASE_LOST;

    private static final Set<Outcome> CHANGES =
        EnumSet.of(
            CREATED,
            REPLACED,
            CANCELLED,
            RESTORED,
            RESCHEDULED,
            REVISED,
            REQUEUED,
            // Of an end; of others it changes nothing, which is not told apart.
            DEAD,
            HAPPENED,
            ENDED,
            RETRIED);

    /** Whether no call with this outcome changes anything. */
    boolean changesNothing() {
      return !CHANGES.contains(this);
    }
  }

  static Answer of(Outcome outcome) {
    return new Answer(outcome, null, null, 0, 0, 0, false);
  }

  Answer content(@Nullable String value) {
    return new Answer(outcome, value, incarnation, version, due, attempt, confirmed);
  }

  Answer identity(@Nullable String ofIncarnation, long ofVersion) {
    return new Answer(outcome, content, ofIncarnation, ofVersion, due, attempt, confirmed);
  }

  Answer due(long value) {
    return new Answer(outcome, content, incarnation, version, value, attempt, confirmed);
  }

  Answer attempt(int value) {
    return new Answer(outcome, content, incarnation, version, due, value, confirmed);
  }

  Answer confirmed(boolean value) {
    return new Answer(outcome, content, incarnation, version, due, attempt, value);
  }

  @Override
  public String toString() {
    return outcome
        + (content == null ? "" : " " + content)
        + (version == 0 ? "" : " version " + version)
        + (due == 0 ? "" : " due " + due / 1000)
        + (attempt == 0 ? "" : " attempt " + attempt)
        + (confirmed ? ", confirmed" : "");
  }
}
