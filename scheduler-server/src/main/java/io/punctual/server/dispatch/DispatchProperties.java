package io.punctual.server.dispatch;

import static io.punctual.server.text.Settings.require;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties of callbacks.
 *
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
    @DefaultValue List<String> allowedNetworks,
    @DefaultValue("false") boolean requireTls,
    @Nullable String sslBundle,
    @DefaultValue Circuit circuit) {

  /**
   * When the jobs of a queue wait because all that are sent fail.
   *
   * @param failures how many deliveries in a row must fail until its jobs wait, in the queue or in
   *     all queues of its application together, 10 to 10,000; 0 for never
   */
  public record Circuit(@DefaultValue("50") int failures) {

    /** Checks the range. */
    public Circuit {
      require(
          "punctual.dispatch.circuit.failures",
          failures == 0 || (failures >= 10 && failures <= 10_000),
          "10 to 10,000, or 0",
          failures);
    }
  }
}
