package io.punctual.server.metrics;

import static io.punctual.server.text.Settings.require;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What is counted.
 *
 * @param queues how many queues have figures of their own, 0 to 10,000; all others share those of
 *     {@code other}
 * @param sampling how often it is looked how many jobs are in the queues, from 100 ms; with more
 *     than a few hundred buckets it takes longer
 */
@ConfigurationProperties("punctual.metrics")
public record MetricsProperties(
    @DefaultValue("200") int queues, @DefaultValue("5s") Duration sampling) {

  /** Checks the values. */
  public MetricsProperties {
    require(
        "punctual.metrics.queues", queues >= 0 && queues <= 10_000, "between 0 and 10000", queues);
    require("punctual.metrics.sampling", sampling.toMillis() >= 100, "at least 100ms", sampling);
  }
}
