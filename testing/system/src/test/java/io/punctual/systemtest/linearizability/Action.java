package io.punctual.systemtest.linearizability;

import org.jspecify.annotations.Nullable;

/**
 * What a client called, a worker saw, or a fault did, concerning one job id. Times are epoch µs.
 */
sealed interface Action {

  /** When a call says that the job is due: at an instant, or that long after the call. */
  record Due(boolean relative, long micros) {

    static final Due NOW = new Due(true, 0);

    static Due at(long epochMicros) {
      return new Due(false, epochMicros);
    }

    static Due in(long micros) {
      return new Due(true, micros);
    }

    @Override
    public String toString() {
      return relative ? "in " + micros / 1000 + " ms" : "at " + micros / 1000;
    }
  }

  /**
   * Submits a job.
   *
   * @param content tells this job from all others; a repeated submit has that of the first
   * @param once whether the job has one attempt only; else as many as it needs
   * @param replace whether it replaces a job that is there
   */
  record Submit(String content, Due due, boolean once, boolean replace) implements Action {}

  /** The end of a text that nobody reads, but that tells one from another. */
  private static String brief(String text) {
    return text.substring(Math.max(0, text.length() - 5));
  }

  /** A state of the job that a client has seen, for a change of that state alone. */
  record Seen(String incarnation, long version) {

    @Override
    public String toString() {
      return brief(incarnation) + " version " + version;
    }
  }

  /**
   * Cancels the job.
   *
   * @param seen what the job must be; null for anything
   */
  record Cancel(@Nullable Seen seen) implements Action {}

  /** Cancels all jobs with a tag that this job has, unless a revision took it away. */
  record CancelByTag() implements Action {}

  /**
   * Changes the due time.
   *
   * @param seen what the job must be; null for anything
   */
  record Reschedule(Due due, @Nullable Seen seen) implements Action {}

  /**
   * Changes the content.
   *
   * @param seen what the job must be; null for anything
   */
  record Revise(String content, @Nullable Seen seen) implements Action {}

  /** Undoes a cancel. */
  record Restore() implements Action {}

  /** Makes a dead letter wait again, due now. */
  record Requeue() implements Action {}

  /** Looks the job up. */
  record Find() implements Action {}

  /**
   * A delivery reached a worker, or a puller.
   *
   * @param token of the lease
   * @param incarnation of the job
   * @param lease how long the lease lasts from the claim on unless it is extended, µs
   * @param pulled whether the attempt counts only once the scheduler knows that it was received
   */
  record Deliver(
      String token, String incarnation, String content, int attempt, long lease, boolean pulled)
      implements Action {

    @Override
    public String toString() {
      return "Deliver["
          + content
          + ", attempt "
          + attempt
          + ", incarnation "
          + brief(incarnation)
          + ", lease "
          + brief(token)
          + "]";
    }
  }

  /**
   * Ends an attempt.
   *
   * @param delay until the next attempt, µs; negative where the retry policy decides
   */
  record End(String token, String incarnation, Ending ending, long delay) implements Action {

    @Override
    public String toString() {
      return "End["
          + ending
          + ", incarnation "
          + brief(incarnation)
          + ", lease "
          + brief(token)
          + (delay < 0 ? "" : ", again in " + delay / 1000 + " ms")
          + "]";
    }
  }

  /** How an attempt can end. */
  enum Ending {
    DONE,
    FAILED,
    REJECTED,
    /** Given back untried, behind the jobs that are due. */
    RELEASED,
    /** Given back untried, at its place. */
    RETURNED,
    /** The outcome is not known. */
    UNKNOWN
  }

  /**
   * Redis lost its newest changes.
   *
   * @param asOf all that was answered before is kept, epoch µs
   * @param sparesConfirmed whether changes that a replica had confirmed are kept, too
   */
  record Loss(long asOf, boolean sparesConfirmed) implements Action {}

  /** Redis was emptied. */
  record Emptied() implements Action {}
}
