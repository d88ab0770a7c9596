package io.punctual.test.spring;

import io.punctual.RetryPolicy;
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
 * @param retry the retry policy of jobs that bring none, as the scheduler has it; where this is not
 *     set, punctual.plugin.retry counts
 * @param startAt what the clock shows when a test begins; the present time if it is not set
 * @param maxAttempts how many attempts one advance of the clock runs before it is taken for an
 *     endless loop
 */
@ConfigurationProperties("punctual.test")
public record PunctualTestProperties(
    @DefaultValue("true") boolean enabled,
    @DefaultValue("default") String retry,
    @Nullable Instant startAt,
    @DefaultValue("" + TestScheduler.DEFAULT_MAX_ATTEMPTS) int maxAttempts) {

  /** Checks the values. */
  public PunctualTestProperties {
    policy(retry);
    if (maxAttempts < 1) {
      throw new IllegalArgumentException(
          "punctual.test.max-attempts must be 1 or more, but is " + maxAttempts);
    }
  }

  RetryPolicy retryPolicy() {
    return policy(retry);
  }

  private static RetryPolicy policy(String text) {
    try {
      return RetryPolicy.parse(text);
    } catch (IllegalArgumentException e) {
      // Without its cause: of a chain, Spring Boot shows the innermost message alone.
      throw new IllegalArgumentException("punctual.test.retry: " + e.getMessage());
    }
  }
}
