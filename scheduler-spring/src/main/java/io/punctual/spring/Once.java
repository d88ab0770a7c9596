package io.punctual.spring;

/** Whether a worker records which of its jobs are done, so that none takes effect twice. */
public enum Once {
  /** It does not: a job that is delivered again runs again. */
  OFF,
  /** In the application's database, in the transaction of the worker's own work. */
  DATABASE
}
