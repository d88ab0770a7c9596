package io.punctual.spring;

/** Where it is remembered which jobs of a worker are done, so that none takes effect twice. */
public enum Once {
  /** Nowhere: a job that is delivered again runs again. */
  OFF,
  /** In the application's database, in the transaction of the worker's own work. */
  DATABASE,
  /** In the application's Redis, beside the work. */
  REDIS
}
