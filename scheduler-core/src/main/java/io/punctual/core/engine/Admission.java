package io.punctual.core.engine;

/**
 * Bounds the submissions that wait for the store, by number and by size: when it is slow or away,
 * submitters hear so soon, instead of filling the memory.
 */
final class Admission {

  static final int MAX_JOBS = 20_000;
  static final long MAX_BYTES = 64L << 20;

  private int jobs;
  private long bytes;

  /** Lets one in, unless there are too many. */
  synchronized boolean enter(int size) {
    if (jobs >= MAX_JOBS || bytes + size > MAX_BYTES) {
      return false;
    }
    jobs++;
    bytes += size;
    return true;
  }

  /** One is through. */
  synchronized void leave(int size) {
    jobs--;
    bytes -= size;
  }
}
