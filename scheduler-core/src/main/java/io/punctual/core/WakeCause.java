package io.punctual.core;

/** Why a scanner looks at its bucket when it does. */
public enum WakeCause {
  /** Somebody wants it to look in any case: at the start, or when a connection was away. */
  ASKED,
  /** A job is due. */
  DUE,
  /** A lease runs out. */
  DEADLINE,
  /** Nobody said anything for as long as is trusted. */
  SAFETY
}
