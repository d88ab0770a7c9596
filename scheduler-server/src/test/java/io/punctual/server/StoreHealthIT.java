package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.io.IOException;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;

/** A Redis that is not set up for keeping jobs is told of, where people look. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
class StoreHealthIT extends ServerTestBase {

  private static final RedisServer REDIS = RedisServer.startTemporary();

  @DynamicPropertySource
  static void redis(DynamicPropertyRegistry registry) {
    registry.add("spring.data.redis.host", () -> "127.0.0.1");
    registry.add("spring.data.redis.port", REDIS::port);
  }

  @BeforeEach
  void setUpAsItShouldBe() throws IOException {
    set("maxmemory-policy", "noeviction");
    set("maxmemory", "0");
    set("appendonly", "yes");
  }

  @AfterAll
  static void stop() {
    REDIS.close();
  }

  private static void set(String setting, String value) throws IOException {
    Resp.call(REDIS.port(), "CONFIG", "SET", setting, value);
  }

  private void awaitStatus(String status) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(40))
        .until(
            () ->
                api.get("/actuator/health")
                        .body()
                        .at("/components/store/status")
                        .asString()
                        .equals(status)
                    && api.get("/api/v1/store").body().at("/nodes").size() == 1);
  }

  @Test
  void evictionPutsTheHealthDownAndIsSaidWithItsCure() throws IOException {
    set("maxmemory", "100mb");
    set("maxmemory-policy", "allkeys-lru");

    awaitStatus("DOWN");
    JsonNode store = api.get("/api/v1/store").body();
    assertThat(store.get("sound").asBoolean()).isFalse();
    assertThat(store.at("/findings/0/unsafe").asBoolean()).isTrue();
    assertThat(store.at("/findings/0/text").asString())
        .contains("127.0.0.1:" + REDIS.port(), "allkeys-lru", "set maxmemory-policy noeviction");
    JsonNode doctor = api.get("/api/v1/doctor").body();
    assertThat(doctor.get("status").asString()).isEqualTo("problem");
    assertThat(doctor.at("/checks/0/name").asString()).isEqualTo("redis");
    assertThat(doctor.at("/checks/0/seen").asString()).contains("allkeys-lru");
    assertThat(doctor.at("/checks/0/cure").asString())
        .isEqualTo("Set maxmemory-policy noeviction.");
    // It is not taken out of the rotation: others would have the same Redis.
    assertThat(api.get("/actuator/health/readiness").status()).isEqualTo(200);

    set("maxmemory-policy", "noeviction");
    awaitStatus("UP");
  }

  @Test
  void aRedisThatKeepsNothingIsAWarning() throws IOException {
    set("appendonly", "no");

    awaitStatus("WARNING");
    JsonNode store = api.get("/api/v1/store").body();
    assertThat(store.get("sound").asBoolean()).isTrue();
    assertThat(store.at("/findings/0/text").asString()).contains("set appendonly yes");
    assertThat(api.get("/actuator/health").status()).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource({
    "punctual.durability=disk, 'punctual.durability and punctual.durability-timeout: must be auto'",
    "punctual.durability=replicated:0, 'punctual.durability and punctual.durability-timeout: must'",
    "punctual.durability-timeout=1m, 'punctual.durability and punctual.durability-timeout: '",
    "punctual.retry=soon, 'punctual.retry: '",
    "punctual.queues[0].application=a --punctual.queues[0].task-type=t"
        + " --punctual.queues[0].retry=soon, 'punctual.queues[].retry: '",
    "punctual.dispatch.circuit.failures=5, 'punctual.dispatch.circuit.failures must be'",
    "punctual.dispatch.circuit.pause=1ms, 'punctual.dispatch.circuit.pause must be'",
    "punctual.durability=synced, 'punctual.durability=synced cannot be kept: Redis at'"
  })
  @ExtendWith(OutputCaptureExtension.class)
  @ResourceLock(Resources.SYSTEM_OUT)
  void aSettingThatCannotBeKeptEndsTheStartAndIsNamed(
      String settings, String message, CapturedOutput output) throws IOException {
    set("appendonly", "no");
    String redis = "--spring.data.redis.port=" + REDIS.port();
    String fixed = "--server.port=0 --eureka.client.enabled=false " + redis;
    SpringApplication application = new SpringApplication(PunctualServerApplication.class);

    assertThatThrownBy(() -> application.run((fixed + " --" + settings).split(" ")).close())
        .hasStackTraceContaining(message);

    // What Boot makes of it, instead of a stack.
    assertThat(output.getOut()).contains("APPLICATION FAILED TO START");
    String shown = output.getOut().replaceFirst("(?s).*APPLICATION FAILED TO START", "");
    assertThat(shown).contains(message, "Action:").doesNotContain("\tat ");
  }
}
