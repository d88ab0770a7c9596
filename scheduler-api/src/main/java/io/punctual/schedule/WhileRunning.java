package io.punctual.schedule;

/**
 * The rule for an occurrence while the job of the previous one still exists: waiting, running or
 * between two attempts. A dead letter does not count.
 */
public enum WhileRunning {
  /** It does not run. */
  SKIP,
  /** It runs when the other has ended. One occurrence waits at most; further ones do not run. */
  QUEUE,
  /** It runs all the same. */
  START
}
