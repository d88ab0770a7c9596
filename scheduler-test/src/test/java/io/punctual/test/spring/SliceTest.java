package io.punctual.test.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.TaskSubmitService;
import io.punctual.test.TestScheduler;
import io.punctual.test.junit.PunctualTest;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;

/** An application without auto-configuration, as slices have little of it. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.NONE)
@PunctualTest
class SliceTest {

  @Configuration
  static class Slice {}

  @Test
  void theAnnotationAddsTheScheduler(TestScheduler scheduler, @Autowired TaskSubmitService tasks) {
    tasks.send("any", "", Duration.ofHours(1));
    assertThat(scheduler.jobs("any")).hasSize(1);
  }
}
