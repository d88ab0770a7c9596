package io.punctual.core.store;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.durability.Reached;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Makes the calls to one store, and tells listeners how each of them went. */
public final class StoreCalls {

  /** Hears of the calls, on the threads that make them: it must not block or throw. */
  public interface Listener {

    /**
     * A call was answered.
     *
     * @param call its name, one of a few
     * @param bucket null for a call that is about no bucket
     * @param nanos from the call to its answer, the way included
     */
    void answered(String call, @Nullable Bucket bucket, long nanos);

    /** Called on the thread that asked for a change, when the change is acknowledged. */
    default void reached(Reached reached) {}

    /**
     * A call was not answered, or the store refused it.
     *
     * @param call its name, one of a few
     * @param bucket null for a call that is about no bucket
     * @param nanos from the call to its failure
     */
    void failed(String call, @Nullable Bucket bucket, long nanos, RuntimeException e);
  }

  private final List<Listener> listeners = new CopyOnWriteArrayList<>();

  /** Tells a listener of each call from now on. */
  public void add(Listener listener) {
    listeners.add(listener);
  }

  /** Tells a listener no more. */
  public void remove(Listener listener) {
    listeners.remove(listener);
  }

  /** Tells the listeners that a change was acknowledged. */
  public void reached(Reached reached) {
    listeners.forEach(listener -> listener.reached(reached));
  }

  /**
   * Makes a call.
   *
   * @param name one of a few
   * @param bucket which one the call is about; null for none
   */
  public <T> T make(String name, @Nullable Bucket bucket, Supplier<T> call) {
    long start = System.nanoTime();
    T answer;
    try {
      answer = call.get();
    } catch (RuntimeException e) {
      long nanos = System.nanoTime() - start;
      listeners.forEach(listener -> listener.failed(name, bucket, nanos, e));
      throw e;
    }
    long nanos = System.nanoTime() - start;
    listeners.forEach(listener -> listener.answered(name, bucket, nanos));
    return answer;
  }
}
