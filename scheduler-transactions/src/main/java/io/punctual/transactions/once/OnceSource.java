package io.punctual.transactions.once;

import io.punctual.spring.Once;

/** Where a filter comes from, if anybody wants one. */
public interface OnceSource {

  /** Where it remembers. */
  Once where();

  /**
   * Makes the filter.
   *
   * @throws io.punctual.worker.WorkerSetupException if something is missing
   */
  OnceFilter open();
}
