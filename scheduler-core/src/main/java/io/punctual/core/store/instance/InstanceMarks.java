package io.punctual.core.store.instance;

import io.punctual.core.store.StoreException;
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
   * @param scheduler names the scheduler whose connection it was; only its last note is kept
   * @param remembered after this time without another break the notes are gone
   * @return the time of the note, by the store's clock, epoch ms
   * @throws StoreException if the store was not reached or refused
   */
  long broke(String instance, String scheduler, Duration remembered);

  /**
   * Returns how many schedulers have noted that a connection to the instance broke.
   *
   * @param since earlier notes do not count; by the store's clock, epoch ms
   * @throws StoreException if the store was not reached
   */
  long broken(String instance, long since);
}
