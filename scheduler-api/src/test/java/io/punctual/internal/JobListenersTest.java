package io.punctual.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.spi.JobAttempt;
import io.punctual.spi.JobListener;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class JobListenersTest {

  @Test
  void aListenerThatFailsWithAnErrorDisturbsNobody() {
    List<JobAttempt> told = new ArrayList<>();
    JobListener failing =
        attempt -> {
          throw new NoClassDefFoundError("of this test");
        };

    new JobListeners(List.of(failing, told::add))
        .ended("order.close", "1", 1, 0, System.nanoTime(), null, false);

    assertThat(told).hasSize(1);
  }
}
