package io.punctual.core;

/** Why a job is a dead letter. */
public enum DeathCause {
  /** It has used up its attempts. */
  ATTEMPTS_USED,
  /** Its worker will never do it, or what is stored of it cannot be read. */
  REJECTED,
  /** A lease ran out, and that was the last attempt. */
  LEASE_EXPIRED,
  /** Its record was gone. */
  CORRUPT,
  /** It could not start in time. */
  EXPIRED
}
