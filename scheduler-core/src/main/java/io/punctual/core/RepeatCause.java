package io.punctual.core;

/** Why a job goes out again. All but the first may be a second run of the same work. */
public enum RepeatCause {
  /** The worker said that it failed. */
  FAILED,
  /** The connection broke before the answer was there, or the answer made no sense. */
  ANSWER_LOST,
  /** The worker did not answer within the job's time to run. */
  TIME_OVER,
  /** The scheduler was stopped before the answer came. */
  SCHEDULER_STOPPED,
  /**
   * Nobody kept the lease: a scheduler, or a worker that fetches jobs itself, died, stood still or
   * was cut off for longer than that.
   */
  LEASE_EXPIRED
}
