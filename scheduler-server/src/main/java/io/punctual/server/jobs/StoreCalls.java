package io.punctual.server.jobs;

/**
 * Bounds the calls to the store that one request causes. Once they are used up, the request ends
 * with what it has and a cursor. Not safe for use by several threads.
 */
public final class StoreCalls {

  /** Enough for 20,000 jobs of a queue with one bucket. */
  private static final int MAX = 100;

  private int left;

  private StoreCalls(int max) {
    this.left = max;
  }

  /** The calls that one request may cause. */
  public static StoreCalls ofRequest() {
    return upTo(MAX);
  }

  /** So many calls. */
  public static StoreCalls upTo(int max) {
    return new StoreCalls(max);
  }

  /** Counts calls that were made. */
  public void count(int calls) {
    left -= Math.max(1, calls);
  }

  /** Whether the request must make no more calls. */
  public boolean areUsedUp() {
    return left <= 0;
  }
}
