package io.punctual.systemtest;

import org.junit.jupiter.api.Tag;

/** Applications on Spring Boot 3.5, with the starter for it. */
@Tag("full")
class SpringBoot3IT extends SpringBootContract {

  SpringBoot3IT() {
    super("worker-boot35");
  }
}
