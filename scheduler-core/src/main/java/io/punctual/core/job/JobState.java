package io.punctual.core.job;

/** The state of a stored job. READY is no state: it is DELAYED with a due time that has passed. */
public enum JobState {
  /** Waits for its due time, or is due and waits to be claimed. */
  DELAYED,
  /** Somebody holds a lease on it. */
  RESERVED,
  /** Out of attempts or rejected; kept until requeued or purged. */
  DEAD,
  /** Ran; only its tombstone is left. */
  FINISHED,
  /** Was cancelled; only its tombstone is left. */
  CANCELLED
}
