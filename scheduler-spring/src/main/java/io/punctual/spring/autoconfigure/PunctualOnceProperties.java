package io.punctual.spring.autoconfigure;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Workers whose jobs take effect once.
 *
 * @param retention how long it is remembered that a job is done, 1 h to 10 years: longer than it
 *     can take until a lost answer leads to another delivery
 * @param initializeSchema whether the table punctual_once is made at the start: embedded for
 *     databases in memory, always, or never
 */
@ConfigurationProperties("punctual.client.once")
public record PunctualOnceProperties(
    @DefaultValue("7d") Duration retention,
    @DefaultValue("embedded") InitializeSchema initializeSchema) {

  /** Checks the values. */
  public PunctualOnceProperties {
    if (retention.compareTo(Duration.ofHours(1)) < 0
        || retention.compareTo(Duration.ofDays(3650)) > 0) {
      throw new IllegalArgumentException(
          "punctual.client.once.retention must be between PT1H and PT87600H, not " + retention);
    }
  }
}
