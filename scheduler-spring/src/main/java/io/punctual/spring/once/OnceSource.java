package io.punctual.spring.once;

/** Makes the filter of {@code once: database}, when the first worker needs it. */
@FunctionalInterface
public interface OnceSource {

  /**
   * Makes the filter.
   *
   * @throws io.punctual.internal.WorkerSetupException if something is missing
   */
  OnceFilter open();
}
