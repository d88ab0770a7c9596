package io.punctual.core.wake;

/** The part of an engine in scanning a bucket. A hint: each engine may claim at any time. */
public enum Role {

  /** Looks when a job is due. */
  OWNER,

  /** Looks {@link WakePlan#BACKUP} after a job was due, in case the owner did not. */
  DEPUTY,

  /** Looks at its safety checks. */
  OTHER
}
