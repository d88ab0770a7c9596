package io.punctual.spring.observation;

import io.micrometer.observation.Observation;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An observation with its scope on one thread at a time. Conventions and handlers are the
 * application's: what they throw is logged, and jobs are sent and run all the same.
 */
final class ScopedObservation {

  private static final Logger log = LoggerFactory.getLogger(ScopedObservation.class);

  private Observation observation = Observation.NOOP;
  private Observation.Scope scope = Observation.Scope.NOOP;

  /** Starts it, and opens its scope on this thread. */
  ScopedObservation(Supplier<Observation> source) {
    quietly(() -> observation = source.get().start());
    open();
  }

  void open() {
    quietly(() -> scope = observation.openScope());
  }

  void close() {
    Observation.Scope open = scope;
    scope = Observation.Scope.NOOP;
    quietly(open::close);
  }

  void error(Throwable error) {
    quietly(() -> observation.error(error));
  }

  /** Closes its scope, and stops it. */
  void stop() {
    close();
    quietly(observation::stop);
  }

  private static void quietly(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      log.warn("Punctual: an observation failed, by its convention or a handler", e);
    }
  }
}
