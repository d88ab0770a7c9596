package io.punctual.server.migrate;

import java.util.List;
import java.util.function.Predicate;

/**
 * Where jobs of another library wait. They are taken in batches, so that the old workers do not get
 * them any more, and are kept beside the others until they are moved. A move that breaks off
 * continues with those.
 *
 * @param <E> how it tells jobs apart
 */
interface OldStore<E> extends AutoCloseable {

  /**
   * Waits until no other command takes jobs out of this store.
   *
   * @throws IllegalStateException if another one goes on
   * @throws IllegalArgumentException if there are no such jobs
   */
  void open() throws InterruptedException;

  /**
   * Makes sure that it is still this command that takes jobs.
   *
   * @throws IllegalStateException if another command has the store
   */
  void hold();

  /**
   * Returns jobs as they are, and leaves them to the old workers.
   *
   * @param seen how many were returned before
   */
  List<E> look(int seen, int max);

  /**
   * Takes jobs, which {@link #taken} then returns; returns how many, 0 if none is left.
   *
   * @param wanted false for jobs that are to stay where they are, beside those that were refused
   */
  int take(int max, Predicate<E> wanted) throws InterruptedException;

  /** Returns the jobs that were taken and are not moved yet. */
  List<E> taken();

  /**
   * Reads a job.
   *
   * @throws UnreadableException if Punctual cannot take it over
   */
  OldWork read(E entry) throws UnreadableException;

  /**
   * Forgets jobs that are in Punctual.
   *
   * @return those that the old side has changed or removed since they were taken: they are its own
   *     again
   */
  List<E> moved(List<E> entries, List<? extends OldWork> work);

  /** Leaves a job to the old workers, now or when the store is closed. */
  void refuse(E entry);

  /** Returns what tells the job apart from others, also if it is read again. */
  Object key(E entry);

  /**
   * Returns whether the run that took the job could read it, though this one cannot, as it has
   * other options.
   */
  boolean wasReadable(E entry);

  /** Returns how the job is called in a message, at the beginning of a sentence. */
  default String name(E entry) {
    return "A job";
  }

  /** Returns whether it recurs. */
  default boolean isRecurring(E entry) {
    return false;
  }

  /** Returns how many jobs could not be taken, because the old side is about to run them. */
  default int busy() {
    return 0;
  }

  /** Returns whether the old side is about to run the job, so that it is not taken. */
  default boolean isBusy(E entry) {
    return false;
  }

  /** Lets other commands have the store. */
  @Override
  void close();
}
