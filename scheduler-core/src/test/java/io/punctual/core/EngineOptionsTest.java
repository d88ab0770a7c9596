package io.punctual.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.RetryPolicy;
import io.punctual.core.job.QueueName;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class EngineOptionsTest {

  @Test
  void defaults() {
    EngineOptions options = EngineOptions.defaults("me");
    assertThat(options.owner()).isEqualTo("me");
    assertThat(options.lease()).isEqualTo(Duration.ofSeconds(10));
    assertThat(options.maxClaim()).isEqualTo(200);
    assertThat(options.buckets()).isEqualTo(1);
    assertThat(options.retry().apply(new QueueName("a", "b"))).isEqualTo(RetryPolicy.DEFAULT);
    assertThat(options.safetyCheck().apply(new QueueName("a", "b")))
        .isEqualTo(Duration.ofSeconds(1));
    assertThat(options.idleChecksPerSecond()).isEqualTo(20);
  }

  @Test
  void whatIsOutOfRangeIsRefusedByName() {
    assertThatThrownBy(() -> EngineOptions.defaults("two words")).hasMessageContaining("owner");
    assertThatThrownBy(() -> with(Duration.ofMillis(999), 1, 1)).hasMessageContaining("lease");
    assertThatThrownBy(() -> with(Duration.ofMinutes(6), 1, 1)).hasMessageContaining("lease");
    assertThatThrownBy(() -> with(Duration.ofSeconds(1), 201, 1)).hasMessageContaining("maxClaim");
    assertThatThrownBy(() -> with(Duration.ofSeconds(1), 1, 65)).hasMessageContaining("buckets");
  }

  private static EngineOptions with(Duration lease, int maxClaim, int buckets) {
    return new EngineOptions(
        "me",
        lease,
        maxClaim,
        buckets,
        queue -> RetryPolicy.DEFAULT,
        queue -> Duration.ofSeconds(1),
        100,
        EngineListener.NONE,
        1,
        Duration.ofMinutes(10),
        /* newStoreExpected= */ false);
  }
}
