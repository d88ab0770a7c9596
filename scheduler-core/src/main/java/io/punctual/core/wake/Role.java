package io.punctual.core.wake;

/** Which part an engine has in looking at a bucket. A hint: each engine may claim at any time. */
public enum Role {

  /** Looks when a job is due. */
  OWNER,

  /** Looks {@link WakePlan#BACKUP} after a job was due, in case the owner did not. */
  DEPUTY,

  /** Looks at its safety checks. */
  OTHER
}
