package io.punctual.server.dispatch;

import java.time.Duration;
import org.springframework.context.annotation.Bean;

/**
 * For a scheduler that soon goes back to instances and queues that it leaves alone. No
 * configuration by annotation: the scan would give it to every scheduler of the tests.
 */
public final class ShortDispatchTimes {

  @Bean
  DispatchTimes shortTimes() {
    return new DispatchTimes(Duration.ofSeconds(1), Duration.ofMillis(200), Duration.ofMillis(200));
  }
}
