package io.punctual.spring;

import java.util.List;

/** Makes the calls of transactions that have committed. */
public interface CommittedCalls {

  /**
   * Makes calls, those of one job in their order. Called on the thread of the transaction, which
   * may still hold its connection to the database. Throws nothing: what fails is reported.
   */
  void make(List<DeferredCall> calls);

  /** Reports calls of a transaction of which it is not known whether it committed. */
  void undecided(List<DeferredCall> calls);
}
