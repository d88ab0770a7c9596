package io.punctual.core;

import io.punctual.core.job.QueueName;
import java.util.List;

/** Delivers claimed jobs: over HTTP to an instance, or to a thread in this process. */
public interface Dispatcher {

  /** The capacity of a dispatcher whose queues share none. */
  int UNBOUNDED = Integer.MAX_VALUE;

  /**
   * Whether this engine hands out jobs of the queue at all; jobs of other queues are left to other
   * engines. Asked once the engine has started, until it says yes.
   */
  default boolean serves(QueueName queue) {
    return true;
  }

  /** Whether {@link #serves} says yes to all queues, so that nobody need list them. */
  default boolean servesAll() {
    return true;
  }

  /** Whether jobs run in other processes, so that none of them can end this one. */
  default boolean runsElsewhere() {
    return false;
  }

  /**
   * How many jobs of this queue may start now. Scanners claim no more than that. 0 leaves all jobs
   * waiting until {@link Engine#capacityChanged} is called for the queue. Asked often: must be
   * quick and must not block.
   */
  int capacity(QueueName queue);

  /**
   * How many jobs of all queues together may start now: scanners of several queues claim no more
   * than that at the same time. When it grows from 0, {@link Engine#capacityChanged} is called for
   * each queue. Asked as often; {@link #UNBOUNDED} always, or never.
   */
  default int capacity() {
    return UNBOUNDED;
  }

  /** Whether jobs of this queue may start now. Views ask this: it must change nothing. */
  default boolean hasCapacity(QueueName queue) {
    return capacity(queue) > 0 && capacity() > 0;
  }

  /**
   * Takes over claimed jobs; returns at once. Every delivery must be ended once with one of its
   * methods; its lease is kept alive until then.
   */
  void dispatch(QueueName queue, List<Delivery> deliveries);
}
