package io.punctual.core.store;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.durability.Reached;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Makes the calls to one store, and tells listeners how each of them went. */
public final class StoreCalls {

  private final List<StoreListener> listeners = new CopyOnWriteArrayList<>();

  /** Tells a listener of each call from now on. */
  public void add(StoreListener listener) {
    listeners.add(listener);
  }

  /** Tells a listener no more. */
  public void remove(StoreListener listener) {
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
