package io.punctual.test;

/**
 * Ends a worker on its way, as {@link Faults#killWorkerHere} asks; an error, so that no {@code
 * catch (Exception)} keeps it alive.
 */
public final class WorkerKilledException extends Error {

  private static final long serialVersionUID = 1L;

  WorkerKilledException() {
    super("the test has killed this worker (faults().killWorkerHere())");
  }
}
