package io.punctual.server.input;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class JobFieldsTest {

  @Test
  @Timeout(10)
  void aFractionOfASecondThatIsAlmostNothingCostsNoTime() {
    assertThat(
            JobFields.seconds(
                "delay", new BigDecimal("1e-400000000"), Duration.ZERO, Duration.ofDays(1)))
        .isEqualTo(Duration.ZERO);
    assertThat(
            JobFields.seconds("delay", new BigDecimal("1.0005"), Duration.ZERO, Duration.ofDays(1)))
        .isEqualTo(Duration.ofMillis(1001));
  }
}
