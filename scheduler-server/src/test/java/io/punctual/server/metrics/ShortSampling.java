package io.punctual.server.metrics;

import java.time.Duration;
import org.springframework.context.annotation.Bean;

/**
 * For a scheduler that looks at its queues all the time. No configuration by annotation: the scan
 * would give it to every scheduler of the tests.
 */
public final class ShortSampling {

  @Bean
  QueueGauges.Interval shortInterval() {
    return new QueueGauges.Interval(Duration.ofMillis(100));
  }
}
