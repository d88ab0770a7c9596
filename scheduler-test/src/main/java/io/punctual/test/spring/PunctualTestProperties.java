package io.punctual.test.spring;

import io.punctual.test.TestScheduler;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The test kit.
 *
 * @param enabled whether it takes the place of the starter, or leaves everything as it is in
 *     production
 * @param startAt what the clock shows when a test begins; the present time if it is not set
 * @param maxAttempts how many attempts one advance of the clock runs before it is taken for an
 *     endless loop
 */
@ConfigurationProperties("punctual.test")
public record PunctualTestProperties(
    @DefaultValue("true") boolean enabled,
    @Nullable Instant startAt,
    @DefaultValue("" + TestScheduler.DEFAULT_MAX_ATTEMPTS) int maxAttempts) {

  /** Checks the values. */
  public PunctualTestProperties {
    if (maxAttempts < 1) {
      throw new IllegalArgumentException(
          "punctual.test.max-attempts must be 1 or more, but is " + maxAttempts);
    }
  }
}
