package io.punctual.core.store;

import java.time.Duration;

/** Notes about worker instances that all schedulers share. Each note expires by itself. */
public interface InstanceMarks {

  /**
   * Reserves an instance for one job.
   *
   * @param instance names the instance, with its application
   * @param most after this time the reservation ends without {@link #release}
   * @return false if the instance is reserved already
   * @throws StoreException if the store was not reached or refused
   */
  boolean reserve(String instance, Duration most);

  /**
   * Ends a reservation, whichever scheduler has it.
   *
   * @throws StoreException if the store was not reached or refused
   */
  void release(String instance);

  /**
   * Notes that a connection to the instance broke.
   *
   * @param scheduler names the scheduler whose connection it was
   * @param remembered after this time without another break the note is gone
   * @throws StoreException if the store was not reached or refused
   */
  void broke(String instance, String scheduler, Duration remembered);

  /**
   * Returns how many schedulers have noted that a connection to the instance broke.
   *
   * @throws StoreException if the store was not reached
   */
  long broken(String instance);
}
