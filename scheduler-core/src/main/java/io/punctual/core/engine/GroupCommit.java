package io.punctual.core.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Throughput by group commit, never by delay. One call is in flight at a time; everything that
 * arrives meanwhile goes with the next one. So a lone item leaves at once, and under load the calls
 * become as large as the store's answer is slow: no timer, nothing to tune.
 */
final class GroupCommit<T> {

  /** Sends a group. */
  interface Call<T> {

    /**
     * Sends the group. Must not throw.
     *
     * @return 0 when the group is dealt with; else after how many ns to send it again
     */
    long send(List<T> group);
  }

  /** How much an item weighs. */
  interface Weight<T> {
    long of(T item);
  }

  private final Threads threads;
  private final int maxItems;
  private final long maxWeight;
  private final Weight<T> weight;
  private final Call<T> call;
  private final Consumer<List<T>> dropped;
  private final ArrayDeque<T> waiting = new ArrayDeque<>();
  private List<T> again = List.of();
  private boolean busy;
  private boolean closed;

  /**
   * @param maxItems most items of one call
   * @param maxWeight most weight of one call; a single item may weigh more
   * @param dropped gets what will not be sent any more after a close
   */
  GroupCommit(
      Threads threads,
      int maxItems,
      long maxWeight,
      Weight<T> weight,
      Call<T> call,
      Consumer<List<T>> dropped) {
    this.threads = threads;
    this.maxItems = maxItems;
    this.maxWeight = maxWeight;
    this.weight = weight;
    this.call = call;
    this.dropped = dropped;
  }

  /** Takes an item over; false when closed. */
  boolean add(T item) {
    synchronized (waiting) {
      if (closed) {
        return false;
      }
      waiting.add(item);
      if (busy) {
        return true;
      }
      busy = true;
    }
    threads.run(this::work);
    return true;
  }

  /** How many items wait, those of the call in flight not included. */
  int size() {
    synchronized (waiting) {
      return waiting.size() + again.size();
    }
  }

  /** Drops what waits; the call in flight goes on. */
  void dropWaiting() {
    List<T> left;
    synchronized (waiting) {
      left = new ArrayList<>(waiting);
      waiting.clear();
    }
    dropped.accept(left);
  }

  /** Takes no more and drops what waits; the call in flight goes on. */
  void close() {
    List<T> left;
    synchronized (waiting) {
      closed = true;
      left = new ArrayList<>(again);
      left.addAll(waiting);
      again = List.of();
      waiting.clear();
    }
    dropped.accept(left);
  }

  private void work() {
    List<T> group = next();
    while (!group.isEmpty()) {
      long wait = call.send(group);
      if (wait > 0) {
        sendAgain(group, wait);
        return;
      }
      group = next();
    }
  }

  // Stays busy meanwhile, so that nobody else starts; what arrives now fills the group up.
  private void sendAgain(List<T> group, long wait) {
    boolean drop;
    synchronized (waiting) {
      drop = closed;
      again = drop ? List.of() : group;
    }
    if (drop) {
      dropped.accept(group);
    } else {
      threads.runAfter(wait, this::work);
    }
  }

  private List<T> next() {
    synchronized (waiting) {
      List<T> group = new ArrayList<>(again);
      again = List.of();
      long sum = 0;
      for (T item : group) {
        sum += weight.of(item);
      }
      while (group.size() < maxItems && !waiting.isEmpty()) {
        sum += weight.of(waiting.element());
        if (sum > maxWeight && !group.isEmpty()) {
          break;
        }
        group.add(waiting.remove());
      }
      busy = !group.isEmpty();
      return group;
    }
  }
}
