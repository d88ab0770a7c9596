package io.punctual.test.spring;

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
 */
@ConfigurationProperties("punctual.test")
public record PunctualTestProperties(
    @DefaultValue("true") boolean enabled, @Nullable Instant startAt) {}
