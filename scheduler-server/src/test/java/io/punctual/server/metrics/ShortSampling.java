package io.punctual.server.metrics;

import java.time.Duration;
import org.springframework.context.annotation.Bean;

/**
 * For a scheduler that looks at its queues all the time. No configuration by annotation: the scan
 * would give it to every scheduler of the tests.
 */
public final class ShortSampling {

  @Bean
  QueueRounds.Interval shortInterval() {
    return new QueueRounds.Interval(Duration.ofMillis(100));
  }
}
