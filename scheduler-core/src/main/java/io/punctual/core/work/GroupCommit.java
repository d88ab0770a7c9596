package io.punctual.core.work;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Throughput by group commit, never by delay. One call is in flight at a time; everything that
 * arrives meanwhile goes with the next one. So a lone item leaves at once, and under load the calls
 * become as large as the store's answer is slow: no timer, nothing to tune.
 *
 * <p>Nothing but {@link #close} ends it: what a call throws drops its group, and the next one goes
 * on.
 */
public final class GroupCommit<T> {

  /** Sends a group. */
  public interface Call<T> {

    /**
     * Sends the group.
     *
     * @return what of it to send again later; null when it is dealt with
     */
    @Nullable Again<T> send(List<T> group);
  }

  /**
   * What to send again.
   *
   * @param nanos from now, unless something urgent comes before
   */
  public record Again<T>(List<T> items, long nanos) {}

  /** How much an item weighs. */
  public interface Weight<T> {
    long of(T item);
  }

  private final String name;
  private final Threads threads;
  private final Defects defects;
  private final int maxItems;
  private final long maxWeight;
  private final Weight<T> weight;
  private final Call<T> call;
  private final BiConsumer<List<T>, @Nullable Throwable> dropped;
  private final ArrayDeque<T> urgent = new ArrayDeque<>();
  private final ArrayDeque<T> waiting = new ArrayDeque<>();
  private boolean busy;
  private boolean pausing;
  private long pause;
  private boolean closed;

  /**
   * @param name of the duty, for people
   * @param maxItems most items of one call
   * @param maxWeight most weight of one call; a single item may weigh more
   * @param dropped gets what will not be sent any more: after a close, with null, or by what the
   *     call threw
   */
  public GroupCommit(
      String name,
      Threads threads,
      Defects defects,
      int maxItems,
      long maxWeight,
      Weight<T> weight,
      Call<T> call,
      BiConsumer<List<T>, @Nullable Throwable> dropped) {
    this.name = name;
    this.threads = threads;
    this.defects = defects;
    this.maxItems = maxItems;
    this.maxWeight = maxWeight;
    this.weight = weight;
    this.call = call;
    this.dropped = dropped;
  }

  /** Takes an item over; false when closed. */
  public boolean add(T item) {
    return add(item, waiting, /* now= */ false);
  }

  /** As {@link #add}, before all others, and without waiting for what is to be sent again later. */
  public boolean addUrgent(T item) {
    return add(item, urgent, /* now= */ true);
  }

  private boolean add(T item, ArrayDeque<T> to, boolean now) {
    boolean paused;
    synchronized (waiting) {
      if (closed) {
        return false;
      }
      to.add(item);
      if (busy && !(now && pausing)) {
        return true;
      }
      paused = pausing;
      busy = true;
      pausing = false;
    }
    try {
      threads.run(this::work);
    } catch (RuntimeException | Error e) {
      // No thread could be started. The end of the pause or the next item tries again.
      defects.met(name, e);
      synchronized (waiting) {
        busy = false;
        pausing = paused;
      }
    }
    return true;
  }

  /** How many items wait, those of the call in flight not included. */
  public int size() {
    synchronized (waiting) {
      return urgent.size() + waiting.size();
    }
  }

  /** Drops what waits; the call in flight goes on. */
  public void dropWaiting() {
    dropped.accept(takeAll(), null);
  }

  /** Takes no more and drops what waits; the call in flight goes on. */
  public void close() {
    synchronized (waiting) {
      closed = true;
    }
    dropped.accept(takeAll(), null);
  }

  private List<T> takeAll() {
    synchronized (waiting) {
      List<T> all = new ArrayList<>(urgent);
      all.addAll(waiting);
      urgent.clear();
      waiting.clear();
      return all;
    }
  }

  private void work() {
    try {
      for (List<T> group = next(); !group.isEmpty(); group = next()) {
        Again<T> again = send(group);
        if (again != null && sendAgain(again)) {
          return;
        }
      }
    } catch (RuntimeException | Error e) {
      // Between two calls: no memory, for instance.
      defects.met(name, e);
      startAnew();
    }
  }

  private void startAnew() {
    synchronized (waiting) {
      // First, so that the next item starts it if nothing else can.
      busy = false;
      pausing = false;
      pause++;
    }
    threads.runAfter(
        Threads.AGAIN_NANOS,
        () -> {
          synchronized (waiting) {
            if (busy || size() == 0) {
              return;
            }
            busy = true;
          }
          work();
        });
  }

  private @Nullable Again<T> send(List<T> group) {
    try {
      Again<T> again = call.send(group);
      if (again == null) {
        defects.worked(name);
      }
      return again;
    } catch (RuntimeException | Error e) {
      defects.met(name, e);
      drop(group, e);
      return null;
    }
  }

  private void drop(List<T> group, @Nullable Throwable why) {
    try {
      dropped.accept(group, why);
    } catch (RuntimeException | Error e) {
      defects.met(name, e);
    }
  }

  // Stays busy meanwhile, so that nobody else starts; what arrives now fills the group up. False
  // if there is something urgent, or nothing to wait for.
  private boolean sendAgain(Again<T> again) {
    long mine;
    int left = again.items().size();
    boolean wait = false;
    Throwable why = null;
    synchronized (waiting) {
      if (!closed) {
        try {
          for (; left > 0; left--) {
            waiting.addFirst(again.items().get(left - 1));
          }
        } catch (RuntimeException | Error e) {
          why = e;
        }
        wait = urgent.isEmpty();
        pausing = wait;
      }
      mine = ++pause;
    }
    if (why != null) {
      defects.met(name, why);
    }
    if (left > 0) {
      drop(again.items().subList(0, left), why);
    }
    if (wait) {
      threads.runAfter(again.nanos(), () -> goOn(mine));
    }
    return wait;
  }

  private void goOn(long mine) {
    synchronized (waiting) {
      if (!pausing || mine != pause) {
        // Something urgent came before.
        return;
      }
      pausing = false;
      busy = true;
    }
    work();
  }

  private List<T> next() {
    synchronized (waiting) {
      List<T> group = new ArrayList<>();
      long sum = fill(group, urgent, 0);
      int first = group.size();
      fill(group, waiting, sum);
      // Only now, since the above may throw: an item that was removed before would be lost.
      remove(first, urgent);
      remove(group.size() - first, waiting);
      busy = !group.isEmpty();
      return group;
    }
  }

  private long fill(List<T> group, ArrayDeque<T> from, long before) {
    long sum = before;
    for (T item : from) {
      sum += weight.of(item);
      if (group.size() == maxItems || (sum > maxWeight && !group.isEmpty())) {
        break;
      }
      group.add(item);
    }
    return sum;
  }

  private static void remove(int number, ArrayDeque<?> from) {
    for (int i = 0; i < number; i++) {
      from.remove();
    }
  }
}
