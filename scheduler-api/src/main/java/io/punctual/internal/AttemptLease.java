package io.punctual.internal;

import java.time.Duration;

/** The lease of an attempt, with whoever keeps it, as far as the worker may ask for something. */
public interface AttemptLease {

  /**
   * Has the attempt last at least that much longer than now. Blocks until that is certain.
   *
   * @throws io.punctual.LeaseLostException if the job is not the attempt's any more
   * @throws io.punctual.SchedulerUnavailableException if nobody answered: it is not known whether
   *     there is more time
   */
  void extend(Duration timeToRun);

  /**
   * Has the lease last at least that much longer than now, whoever lives. Blocks until that is
   * certain.
   *
   * @return by which the job is ended from anywhere
   * @throws io.punctual.LeaseLostException if the job is not the attempt's any more
   * @throws io.punctual.SchedulerUnavailableException if nobody answered
   */
  String defer(Duration within);
}
