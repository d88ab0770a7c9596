package io.punctual.server.web;

import static io.punctual.server.text.Settings.require;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * How the scheduler is reached by HTTP.
 *
 * @param operatorPort a second port that serves the same, with 200 connections of its own, so that
 *     health, metrics and console are reached whatever happens at {@code server.port}; not opened
 *     unless set
 * @param api bounds of the HTTP API
 */
@ConfigurationProperties("punctual")
public record WebProperties(@Nullable Integer operatorPort, @DefaultValue Api api) {

  /** Checks the values. */
  public WebProperties {
    require(
        "punctual.operator-port",
        operatorPort == null || (operatorPort >= 1 && operatorPort <= 65_535),
        "between 1 and 65535",
        String.valueOf(operatorPort));
  }

  /**
   * Bounds of the HTTP API.
   *
   * @param maxBody largest body of one job, less than 1GB
   * @param maxBatchBody largest body of a batch, less than 1GB
   */
  public record Api(
      @DefaultValue("1MB") DataSize maxBody, @DefaultValue("16MB") DataSize maxBatchBody) {

    /** Checks the values. */
    public Api {
      body("punctual.api.max-body", maxBody);
      body("punctual.api.max-batch-body", maxBatchBody);
    }

    private static void body(String property, DataSize size) {
      require(
          property,
          size.toBytes() >= 1 && size.toGigabytes() < 1,
          "at least 1B and less than 1GB",
          size);
    }
  }
}
