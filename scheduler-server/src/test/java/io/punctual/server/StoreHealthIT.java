package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.io.IOException;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;

/** A Redis that is not set up for keeping jobs is told of, where people look. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
@Tag("full")
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
    set("appendfsync", "everysec");
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
    assertThat(doctor.at("/checks/0/message").asString()).contains("allkeys-lru");
    assertThat(doctor.at("/checks/0/remedy").asString())
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
}
