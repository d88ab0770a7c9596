package io.punctual.spring;

/**
 * Says whether a worker records its finished jobs, so that a redelivered job takes effect only
 * once.
 */
public enum Once {
  /** It does not: a job that is delivered again runs again. */
  OFF,
  /** In the application's database, in the transaction of the worker's own work. */
  DATABASE
}
