package io.punctual.core.store;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.durability.Reached;
import org.jspecify.annotations.Nullable;

/** Hears of the calls to a store, on the threads that make them: it must not block or throw. */
public interface StoreListener {

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
