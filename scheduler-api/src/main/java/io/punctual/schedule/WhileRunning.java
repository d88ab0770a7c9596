package io.punctual.schedule;

/**
 * What becomes of an occurrence while the job of the one before is still there: waiting, running or
 * between two attempts. A dead letter is not there any more in this sense.
 */
public enum WhileRunning {
  /** It does not run. */
  SKIP,
  /** It runs when the other has ended. One occurrence waits at most; further ones do not run. */
  QUEUE,
  /** It runs all the same. */
  START
}
