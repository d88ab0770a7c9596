package io.punctual.server.metrics;

import static io.punctual.server.text.Settings.require;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties of the metrics.
 *
 * @param queues how many queues have figures of their own, 0 to 10,000; all others share those of
 *     {@code other}
 * @param instances how many instances have figures of their own, 0 to 10,000; all others share
 *     those of {@code other}
 */
@ConfigurationProperties("punctual.metrics")
public record MetricsProperties(
    @DefaultValue("200") int queues, @DefaultValue("200") int instances) {

  /** Checks the values. */
  public MetricsProperties {
    require(
        "punctual.metrics.queues", queues >= 0 && queues <= 10_000, "between 0 and 10000", queues);
    require(
        "punctual.metrics.instances",
        instances >= 0 && instances <= 10_000,
        "between 0 and 10000",
        instances);
  }
}
