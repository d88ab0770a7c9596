package io.punctual.core.submit;

/**
 * Bounds the submissions that wait for the store, by number and by size: when it is slow or away,
 * submitters hear so soon, instead of filling the memory.
 */
public final class Admission {

  public static final int MAX_JOBS = 20_000;
  private static final long MAX_BYTES = 64L << 20;
  private static final int PART_OF_HEAP = 16;

  private final long maxBytes =
      Math.min(MAX_BYTES, Runtime.getRuntime().maxMemory() / PART_OF_HEAP);
  private int jobs;
  private long bytes;

  /** Lets one in, unless there are too many. */
  public synchronized boolean enter(int size) {
    if (jobs >= MAX_JOBS || bytes + size > maxBytes) {
      return false;
    }
    jobs++;
    bytes += size;
    return true;
  }

  /** How many have not left yet. */
  public synchronized int inside() {
    return jobs;
  }

  /** One is through. */
  public synchronized void leave(int size) {
    jobs--;
    bytes -= size;
  }
}
