package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;

/** A scheduler that is told to count nothing of its own. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {"eureka.client.enabled=false", "management.metrics.enable.punctual=false"})
class UncountedIT extends SharedRedisTestBase {

  @Test
  void aSchedulerThatCountsNothingWorksAndTellsNothing() {
    int status =
        api.post(
                "/api/v1/jobs",
                """
                {"application":"uncounted","taskType":"order.close","taskId":"a","delay":0}""")
            .status();
    assertThat(status).isEqualTo(201);
    String told = api.get("/actuator/prometheus").text();
    assertThat(told).contains("jvm_memory_used_bytes").doesNotContain("punctual_");
    assertThat(api.get("/actuator/health/liveness").status()).isEqualTo(200);
  }
}
