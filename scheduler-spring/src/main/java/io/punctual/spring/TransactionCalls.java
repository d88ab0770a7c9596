package io.punctual.spring;

import java.util.List;

/**
 * Where calls go that are made inside of a transaction, until it has committed. A bean of this type
 * comes before what {@link Transactions#AFTER_COMMIT} does.
 */
public interface TransactionCalls {

  /** Whether this thread is in a transaction with which calls can be kept. */
  boolean isInTransaction();

  /**
   * Keeps calls with the transaction of this thread: in order, made if it commits, and forgotten if
   * it is rolled back.
   */
  void add(List<? extends DeferredCall> calls);
}
