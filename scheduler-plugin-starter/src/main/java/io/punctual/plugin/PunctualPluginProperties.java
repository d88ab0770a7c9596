package io.punctual.plugin;

import io.punctual.core.store.StoreOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How an application runs its own jobs.
 *
 * @param enabled whether the starter does anything
 * @param application the name of the application whose jobs these are; default
 *     spring.application.name. Instances of one application share its jobs
 * @param concurrency jobs of each task type that this instance runs at once, 1 to 10,000; more of
 *     them wait in Redis for this instance or another one
 * @param keyPrefix first part of every key in Redis; applications and schedulers that share jobs
 *     have the same
 * @param shutdownPatience how long running jobs may take once the application stops; what runs
 *     longer is interrupted and delivered again
 */
@ConfigurationProperties("punctual.plugin")
public record PunctualPluginProperties(
    @DefaultValue("true") boolean enabled,
    @Nullable String application,
    @DefaultValue("16") int concurrency,
    @DefaultValue("punctual") String keyPrefix,
    @DefaultValue("20s") Duration shutdownPatience) {

  private static final int MAX_CONCURRENCY = 10_000;

  /** Checks the values. */
  public PunctualPluginProperties {
    if (concurrency < 1 || concurrency > MAX_CONCURRENCY) {
      throw new IllegalArgumentException(
          "punctual.plugin.concurrency must be between 1 and "
              + MAX_CONCURRENCY
              + ", not "
              + concurrency);
    }
    if (shutdownPatience.isNegative()) {
      throw new IllegalArgumentException(
          "punctual.plugin.shutdown-patience must not be negative, but is " + shutdownPatience);
    }
  }

  StoreOptions storeOptions() {
    return new StoreOptions(keyPrefix, StoreOptions.DEFAULTS.tombstones());
  }
}
