package io.punctual.server.web;

import static io.punctual.server.text.Settings.require;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * The properties of the scheduler's HTTP server.
 *
 * @param operatorPort a second port that serves the same, with 200 connections of its own, so that
 *     health, metrics and console are reached whatever happens at {@code server.port}; not opened
 *     unless set
 */
@ConfigurationProperties("punctual")
public record WebProperties(@Nullable Integer operatorPort) {

  /** Checks the values. */
  public WebProperties {
    require(
        "punctual.operator-port",
        operatorPort == null || (operatorPort >= 1 && operatorPort <= 65_535),
        "between 1 and 65535",
        String.valueOf(operatorPort));
  }
}
