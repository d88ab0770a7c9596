package io.punctual.server.dispatch.circuit;

import static io.punctual.server.text.Settings.require;

import java.time.Duration;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * When the jobs of a queue wait because all that are sent fail; {@code punctual.dispatch.circuit}.
 *
 * @param failures how many deliveries in a row must fail for that, in the queue or in all queues of
 *     its application together, 10 to 10,000; 0 for never
 * @param pause how long they wait before one of them probes, 100 ms to 10 min; doubled with each
 *     probe that fails, up to a minute
 */
public record CircuitOptions(@DefaultValue("50") int failures, @DefaultValue("5s") Duration pause) {

  /** Checks the ranges. */
  public CircuitOptions {
    require(
        "punctual.dispatch.circuit.failures",
        failures == 0 || (failures >= 10 && failures <= 10_000),
        "10 to 10,000, or 0",
        failures);
    require(
        "punctual.dispatch.circuit.pause",
        pause.toMillis() >= 100 && pause.compareTo(Duration.ofMinutes(10)) <= 0,
        "between 100 ms and 10 min",
        pause);
  }
}
