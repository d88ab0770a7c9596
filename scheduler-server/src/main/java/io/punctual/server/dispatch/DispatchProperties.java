package io.punctual.server.dispatch;

import static io.punctual.server.text.Settings.require;
import static io.punctual.server.text.Settings.wrong;

import io.punctual.server.dispatch.circuit.CircuitOptions;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How callbacks are made.
 *
 * @param connectTimeout how long a connection may take
 * @param avoid how long an instance that refused a connection, or answers no job in time, is left
 *     alone; where it answers none, doubled each time up to a minute
 * @param allowedNetworks where instances may be, in CIDR notation (10.0.0.0/8); empty for
 *     everywhere but this machine. Link-local addresses, and those at which clouds tell secrets,
 *     are never called
 * @param requireTls whether workers are called by https only; an instance that the registry shows
 *     with http gets no jobs
 * @param sslBundle the SSL bundle (spring.ssl.bundle) that says which workers are trusted on https,
 *     and with which key this scheduler shows itself to those that ask; default the JVM's
 * @param circuit when the jobs of a queue wait because all that are sent fail
 */
@ConfigurationProperties("punctual.dispatch")
public record DispatchProperties(
    @DefaultValue("1s") Duration connectTimeout,
    @DefaultValue("3s") Duration avoid,
    @DefaultValue List<String> allowedNetworks,
    @DefaultValue("false") boolean requireTls,
    @Nullable String sslBundle,
    @DefaultValue Circuit circuit) {

  /** Checks the values. */
  public DispatchProperties {
    require(
        "punctual.dispatch.connect-timeout",
        connectTimeout.toMillis() >= 1,
        "at least 1ms",
        connectTimeout);
    require("punctual.dispatch.avoid", avoid.toMillis() >= 100, "at least 100ms", avoid);
  }

  /**
   * When the jobs of a queue wait because all that are sent fail.
   *
   * @param failures how many deliveries in a row must fail for that, in the queue or in all queues
   *     of its application together, 10 to 10,000; 0 for never
   * @param pause how long they wait before one of them probes, 100 ms to 10 min; doubled with each
   *     probe that fails, up to a minute
   */
  public record Circuit(@DefaultValue("50") int failures, @DefaultValue("5s") Duration pause) {

    /** Checks the values. */
    public Circuit {
      try {
        var unused = new CircuitOptions(failures, pause);
      } catch (IllegalArgumentException e) {
        throw wrong("punctual.dispatch.circuit.", e);
      }
    }

    CircuitOptions options() {
      return new CircuitOptions(failures, pause);
    }
  }
}
