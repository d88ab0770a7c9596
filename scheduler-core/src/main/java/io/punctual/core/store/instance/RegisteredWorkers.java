package io.punctual.core.store.instance;

import io.punctual.core.store.StoreException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Workers that registered at an engine's owner instead of a registry, for all who share the store.
 * Each is kept until its time is over by the store's clock, unless it is renewed. Time in which no
 * engine reads them does not count.
 */
public interface RegisteredWorkers {

  /** The longest time for which a worker is kept without a renewal. */
  Duration LONGEST = Duration.ofMinutes(5);

  /**
   * A worker.
   *
   * @param application a name, without spaces
   * @param instance unique in its application, without spaces
   * @param text what it says of itself
   */
  record Worker(String application, String instance, String text) {}

  /**
   * All workers.
   *
   * @param version names the view, for the next read
   */
  record View(String version, List<Worker> workers) {}

  /**
   * How much workers may take together.
   *
   * @param workers at most so many
   * @param characters of their texts, in bytes of UTF-8
   */
  record Bound(int workers, int characters) {}

  /** What became of a registration. */
  enum Put {
    CREATED,
    /** It was there and says something else of itself now. */
    CHANGED,
    RENEWED,
    /** Its session has been removed, this call came late; nothing was changed. */
    ENDED,
    /** The workers of the application take as much as they may; nothing was changed. */
    FULL,
    /** The workers of all applications take as much as they may; nothing was changed. */
    ALL_FULL
  }

  /**
   * Registers a worker, or renews it.
   *
   * @param session names this run of the worker, without spaces; empty if nothing does. What a
   *     worker says is what its session said whose life ends last
   * @param life after which it is gone; 1 ms to {@link #LONGEST}
   * @param own what the workers of an application may take
   * @param all what the workers of all applications may take
   * @throws StoreException if the store was not reached or refused
   */
  Put put(Worker worker, String session, Duration life, Bound own, Bound all);

  /**
   * Removes a session of a worker. It cannot be registered again for 30 s. That counts for a
   * session that was never there, too, unless there are as many entries as workers may be. Workers
   * and removed sessions together may be twice as many.
   *
   * @param session as it was registered; empty for all that are there
   * @param own what the workers of an application may take
   * @param all what the workers of all applications may take
   * @return false if it is not there
   * @throws StoreException if the store was not reached or refused
   */
  boolean remove(String application, String instance, String session, Bound own, Bound all);

  /**
   * Reads all workers.
   *
   * @param version of the view that is known; empty for none
   * @return null if that is still the view
   * @throws StoreException if the store was not reached or refused
   */
  @Nullable View read(String version);
}
