package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** What callers and the log hear of a Redis that is away, stands still, or has lost its replica. */
@ExtendWith(OutputCaptureExtension.class)
@Isolated("reads what is printed")
@Tag("full")
class OutageLogsIT {

  /** As long as an application waits for one scheduler: half of punctual.submit-timeout. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final String BEGINS = "Redis does not answer or refuses";
  private static final String ENDS = "Redis answers again";

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

  @Test
  void whatNoReplicaConfirmsIsSaidToBeThereAndNotSafe() {
    try (RedisServer redis = RedisServer.startTemporary();
        ConfigurableApplicationContext server =
            server(
                redis, "--punctual.durability=replicated:1", "--spring.data.redis.timeout=600ms");
        ApiClient api = client(server)) {
      ApiClient.Answer answer = post(api, "unsafe");

      assertThat(answer.status()).isEqualTo(503);
      assertThat(answer.at("/detail"))
          .contains(
              "within 300 ms only 0 of 1 replicas confirmed it",
              "not known to be safe",
              "repeat it")
          .doesNotContain("did not answer");
      assertThat(api.get("/api/v1/jobs/shop/lonely/unsafe").at("/state")).isEqualTo("delayed");
    }
  }

  @Test
  void whileRedisStandsStillCallersHearSoBeforeTheirPatienceEnds() {
    try (RedisServer redis = RedisServer.startTemporary();
        ConfigurableApplicationContext server = server(redis);
        ApiClient api = client(server);
        ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      assertThat(submit(api, "before")).isEqualTo(201);
      redis.suspend();
      try {
        List<CompletableFuture<Void>> waiting = new ArrayList<>();
        // More than there are connections, so that some wait for one.
        for (int i = 0; i < 80; i++) {
          waiting.add(CompletableFuture.runAsync(() -> hearThatNobodyAnswers(api), callers));
        }
        waiting.forEach(CompletableFuture::join);
      } finally {
        redis.resume();
      }
    }
  }

  private static void hearThatNobodyAnswers(ApiClient api) {
    Duration fastest = Duration.ofDays(1);
    for (int i = 0; i < 2; i++) {
      long asked = System.nanoTime();
      assertThat(api.get("/api/v1/jobs/shop/lonely/before").status()).isEqualTo(503);
      Duration taken = Duration.ofNanos(System.nanoTime() - asked);
      fastest = taken.compareTo(fastest) < 0 ? taken : fastest;
    }
    // The faster of two calls: this process may stall during one of them.
    assertThat(fastest).isLessThan(PATIENCE);
  }

  private static int submit(ApiClient api, String id) {
    return post(api, id).status();
  }

  private static ApiClient.Answer post(ApiClient api, String id) {
    return api.post(
        "/api/v1/jobs",
        "{\"application\":\"shop\",\"taskType\":\"lonely\",\"taskId\":\"%s\",\"delay\":\"1h\"}"
            .formatted(id));
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

  private static ConfigurableApplicationContext server(RedisServer redis, String... more) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--server.port=0",
                "--eureka.client.enabled=false",
                "--spring.data.redis.host=127.0.0.1",
                "--spring.data.redis.port=" + redis.port()));
    arguments.addAll(List.of(more));
    return new SpringApplication(PunctualServerApplication.class)
        .run(arguments.toArray(String[]::new));
  }
}
