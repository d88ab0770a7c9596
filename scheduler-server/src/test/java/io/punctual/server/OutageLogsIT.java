package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** What the log says of outages: that each begins and ends, once, however many notice. */
@ExtendWith(OutputCaptureExtension.class)
class OutageLogsIT {

  private static final String BEGINS = "The store does not answer or refuses";
  private static final String ENDS = "The store answers again";

  @Test
  void eachOutageIsSaidThoughTheQueueGetsNoFurtherJobs(CapturedOutput output) {
    try (RedisServer redis = RedisServer.startTemporary("--appendonly", "yes");
        ConfigurableApplicationContext server = server(redis);
        ApiClient api = client(server)) {
      assertThat(submit(api, "before")).isEqualTo(201);

      for (int outage = 1; outage <= 2; outage++) {
        redis.kill();
        // The only submit of this outage, and none comes after it.
        assertThat(submit(api, "meanwhile-" + outage)).isEqualTo(503);
        awaitLines(output, BEGINS, outage);

        redis.start();
        awaitLines(output, ENDS, outage);
        assertThat(lines(output, BEGINS)).isEqualTo(outage);
      }
    }
  }

  @Test
  void callsThatAreRefusedAreNotALineEach(CapturedOutput output) {
    try (RedisServer redis = RedisServer.startTemporary();
        ConfigurableApplicationContext server = server(redis);
        ApiClient api = client(server)) {
      redis.kill();
      eventually()
          .until(() -> api.get("/actuator/health").at("/components/store/status").equals("DOWN"));
      for (int i = 0; i < 50; i++) {
        assertThat(submit(api, "refused-" + i)).isEqualTo(503);
        assertThat(api.get("/actuator/health").status()).isEqualTo(503);
      }

      // One of each kind at most: the minute of another test may not be over.
      assertThat(lines(output, "Answered 503")).isLessThanOrEqualTo(2);
      assertThat(lines(output, "\tat ")).isZero();
      assertThat(api.get("/actuator/health").body().get("components").propertyNames())
          .doesNotContain("redis");
    }
  }

  private static int submit(ApiClient api, String id) {
    return api.post(
            "/api/v1/jobs",
            "{\"application\":\"shop\",\"taskType\":\"lonely\",\"taskId\":\"%s\",\"delay\":\"1h\"}"
                .formatted(id))
        .status();
  }

  private static ConditionFactory eventually() {
    return Awaitility.await().dontCatchUncaughtExceptions().atMost(Duration.ofSeconds(60));
  }

  private static void awaitLines(CapturedOutput output, String text, int count) {
    eventually().until(() -> lines(output, text) >= count);
    assertThat(lines(output, text)).isEqualTo(count);
  }

  private static int lines(CapturedOutput output, String text) {
    return (int) output.getAll().lines().filter(line -> line.contains(text)).count();
  }

  private static ApiClient client(ConfigurableApplicationContext server) {
    return new ApiClient(
        Integer.parseInt(server.getEnvironment().getRequiredProperty("local.server.port")));
  }

  private static ConfigurableApplicationContext server(RedisServer redis) {
    return new SpringApplication(PunctualServerApplication.class)
        .run(
            "--server.port=0",
            "--eureka.client.enabled=false",
            "--spring.data.redis.host=127.0.0.1",
            "--spring.data.redis.port=" + redis.port());
  }
}
