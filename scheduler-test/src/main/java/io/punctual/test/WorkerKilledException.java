package io.punctual.test;

/** Ends a worker on its way; an error, so that no {@code catch (Exception)} keeps it alive. */
final class WorkerKilledException extends Error {

  private static final long serialVersionUID = 1L;

  WorkerKilledException() {
    super("the test has killed this worker (faults().killWorkerHere())");
  }
}
