package io.punctual.systemtest;

import org.junit.jupiter.api.Tag;

/** Applications on Spring Boot 4.0, with the starter for Spring Boot 4. */
@Tag("full")
class SpringBoot40IT extends SpringBootContract {

  SpringBoot40IT() {
    super("worker-boot40");
  }
}
