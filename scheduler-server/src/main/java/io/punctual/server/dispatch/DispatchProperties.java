package io.punctual.server.dispatch;

import static io.punctual.server.text.Settings.require;

import io.punctual.server.dispatch.circuit.CircuitOptions;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
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
    @NestedConfigurationProperty @DefaultValue CircuitOptions circuit) {

  /** Checks the values. */
  public DispatchProperties {
    require(
        "punctual.dispatch.connect-timeout",
        connectTimeout.toMillis() >= 1,
        "at least 1ms",
        connectTimeout);
    require("punctual.dispatch.avoid", avoid.toMillis() >= 100, "at least 100ms", avoid);
  }
}
