package io.punctual.server.jobs;

import static io.punctual.server.text.Settings.require;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The quotas of one application: memory and jobs in Redis, and submits.
 *
 * @param jobs most jobs of one application, waiting, running and dead; 0 for no limit
 * @param memoryPercent how much of Redis's maxmemory the jobs of one application may take, 1 to
 *     100; 100 for no limit, as where Redis has no maxmemory
 * @param submitsPerSecond most jobs that one application may submit to this scheduler in a second;
 *     0 for no limit
 */
@ConfigurationProperties("punctual.quota")
public record QuotaProperties(
    @DefaultValue("0") long jobs,
    @DefaultValue("50") int memoryPercent,
    @DefaultValue("0") int submitsPerSecond) {

  /** Checks the values. */
  public QuotaProperties {
    require("punctual.quota.jobs", jobs >= 0, "zero or more", jobs);
    require(
        "punctual.quota.memory-percent",
        memoryPercent >= 1 && memoryPercent <= 100,
        "between 1 and 100",
        memoryPercent);
    require(
        "punctual.quota.submits-per-second",
        submitsPerSecond >= 0 && submitsPerSecond <= 1_000_000,
        "between 0 and 1000000",
        submitsPerSecond);
  }
}
