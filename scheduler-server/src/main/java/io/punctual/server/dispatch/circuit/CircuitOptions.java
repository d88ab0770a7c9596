package io.punctual.server.dispatch.circuit;

import java.time.Duration;

/**
 * When the jobs of a queue wait because all that are sent fail.
 *
 * @param failures how many deliveries in a row, without one that succeeds, open its circuit, in the
 *     queue or in all queues of its application together: 10 to 10,000; 0 never
 * @param pause how long its jobs wait then before one of them probes, 100 ms to 10 min; doubled
 *     each time that the probe fails, up to a minute or this, if it is longer
 */
public record CircuitOptions(int failures, Duration pause) {

  /** Checks the ranges. */
  public CircuitOptions {
    if (failures != 0 && (failures < 10 || failures > 10_000)) {
      throw new IllegalArgumentException("failures must be 10 to 10,000, or 0, not " + failures);
    }
    if (pause.toMillis() < 100 || pause.compareTo(Duration.ofMinutes(10)) > 0) {
      throw new IllegalArgumentException("pause must be between 100 ms and 10 min, not " + pause);
    }
  }
}
