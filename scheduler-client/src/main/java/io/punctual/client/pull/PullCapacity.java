package io.punctual.client.pull;

/**
 * Counts the free places for jobs. A poller waits until a place is free, or until no more jobs are
 * fetched.
 */
final class PullCapacity {

  private final int places;
  private int free;
  private boolean closed;

  PullCapacity(int places) {
    this.places = places;
    this.free = places;
  }

  /**
   * Takes places, after waiting for the first one.
   *
   * @param max at most so many
   * @return how many; 0 if closed
   */
  synchronized int take(int max) throws InterruptedException {
    int taken = Math.min(max, await());
    free -= taken;
    return taken;
  }

  /**
   * Waits until there is a free place, and leaves it.
   *
   * @return how many there are; 0 if closed
   */
  synchronized int await() throws InterruptedException {
    while (free == 0 && !closed) {
      wait();
    }
    return closed ? 0 : free;
  }

  /** Takes one place if there is one, also when closed. */
  synchronized boolean tryTake() {
    if (free == 0) {
      return false;
    }
    free--;
    return true;
  }

  /** Gives places back. */
  synchronized void give(int count) {
    free += count;
    notifyAll();
  }

  /** Ends all waiting. */
  synchronized void close() {
    closed = true;
    notifyAll();
  }

  /** How many places are taken. */
  synchronized int taken() {
    return places - free;
  }
}
