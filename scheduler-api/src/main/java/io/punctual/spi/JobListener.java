package io.punctual.spi;

/**
 * Is told of every attempt that a worker of this application has ended: a log, a metric, an audit.
 * Any number of them may be beans. The same in service mode, when jobs are pulled, and in plugin
 * mode.
 */
@FunctionalInterface
public interface JobListener {

  /**
   * A worker has ended an attempt. Called after the worker and before the outcome is stored, on the
   * worker's thread or, where its future completed later, on another one: it should be quick. What
   * it throws is logged, and changes nothing.
   */
  void ended(JobAttempt attempt);
}
