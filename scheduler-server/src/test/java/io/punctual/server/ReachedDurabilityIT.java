package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.server.ApiClient.Answer;
import io.punctual.test.redis.RedisReplica;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;

/**
 * Answers, health, doctor and log name the durability that changes reach, on a Redis whose replica
 * goes and comes back, and on one that syncs each write.
 */
@ExtendWith(OutputCaptureExtension.class)
@Isolated("reads what is printed")
@Tag("full")
class ReachedDurabilityIT {

  /** How long a change waits for a replica: half of spring.data.redis.timeout. */
  private static final Duration WAIT = Duration.ofSeconds(1);

  private static final Told ALL_WELL = new Told("UP", List.of(), List.of());

  /** How a replica goes and comes back, and what operators are told meanwhile. */
  private record Absence(
      String name, Consumer<RedisServer> begin, Consumer<RedisServer> end, String finding) {

    @Override
    public String toString() {
      return name;
    }
  }

  private static List<Absence> absences() {
    return List.of(
        new Absence(
            "suspended",
            RedisServer::suspend,
            RedisServer::resume,
            "no replica of Redis confirmed a write within " + WAIT.toMillis() + " ms"),
        new Absence(
            "killed", RedisServer::kill, RedisServer::start, "Redis has lost its last replica"));
  }

  /**
   * What operators are told of Redis.
   *
   * @param status of its part in the health
   * @param health what that part names
   * @param doctor the messages of the doctor's checks that are not ok
   */
  private record Told(String status, List<String> health, List<String> doctor) {

    static Told by(ApiClient api) {
      JsonNode store = api.get("/actuator/health").body().at("/components/store");
      return new Told(
          store.at("/status").asString(""),
          Stream.of("findings", "obstacles", "losses", "error")
              .flatMap(detail -> texts(store.at("/details").path(detail)))
              .toList(),
          api.get("/api/v1/doctor")
              .body()
              .at("/checks")
              .valueStream()
              .filter(check -> check.at("/name").asString().matches("redis|durability|losses"))
              .filter(check -> !check.at("/status").asString().equals("ok"))
              .map(check -> check.at("/message").asString())
              .toList());
    }

    private static Stream<String> texts(JsonNode detail) {
      return detail.isArray()
          ? detail.valueStream().map(JsonNode::asString)
          : Stream.of(detail.asString("")).filter(text -> !text.isEmpty());
    }
  }

  @ParameterizedTest
  @MethodSource("absences")
  void aReplicaThatIsAwayIsNamedUntilItConfirmsAgain(Absence absence, CapturedOutput output) {
    try (RedisServer primary = RedisServer.startTemporary("--appendfsync", "everysec");
        RedisServer replica = RedisReplica.of(primary);
        ConfigurableApplicationContext server = server(primary);
        ApiClient api = client(server)) {
      awaitAllWell(api, "replicated:1");
      EveryChange.assertReached(api, "replicated:1");

      absence.begin().accept(replica);
      long away = System.nanoTime();
      assertThat(durability(submit(api))).isEqualTo("redis");
      for (int i = 0; i < 20; i++) {
        assertThat(durability(submit(api))).isEqualTo("redis");
      }
      // The scheduler's own look at the replica may wait, too, but not each change.
      assertThat(System.nanoTime() - away).isLessThan(WAIT.multipliedBy(10).toNanos());
      awaitTold(api, "WARNING", absence.finding());
      eventually().until(() -> output.getAll().contains(absence.finding()));
      EveryChange.assertReached(api, "redis");
      assertThat(output.getAll()).doesNotContain("Replicas confirm writes again");

      absence.end().accept(replica);
      awaitAllWell(api, "replicated:1");
      EveryChange.assertReached(api, "replicated:1");
      assertThat(output.getAll()).contains("Replicas confirm writes again");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "synced"})
  void aRedisThatSyncsEachWriteSaysSynced(String durability) {
    try (RedisServer redis = RedisServer.startTemporary("--appendfsync", "always");
        ConfigurableApplicationContext server =
            server(redis, "--punctual.durability=" + durability);
        ApiClient api = client(server)) {
      awaitAllWell(api, "synced");
      EveryChange.assertReached(api, "synced");
    }
  }

  @Test
  void autoSaysSyncedOnlyWhileRedisSyncs(CapturedOutput output) throws IOException {
    try (RedisServer redis = RedisServer.startTemporary("--appendfsync", "always");
        ConfigurableApplicationContext server = server(redis);
        ApiClient api = client(server)) {
      awaitAllWell(api, "synced");

      appendfsync(redis, "no");
      eventually().until(() -> durability(submit(api)).equals("redis"));
      awaitTold(api, "WARNING", "has appendfsync no");
      assertThat(output.getAll()).contains("has appendfsync no");

      appendfsync(redis, "always");
      awaitAllWell(api, "synced");
    }
  }

  @Test
  void syncedIsRefusedWhereRedisDoesNotSync(CapturedOutput output) throws IOException {
    try (RedisServer redis = RedisServer.startTemporary("--appendfsync", "always");
        ConfigurableApplicationContext server = server(redis, "--punctual.durability=synced");
        ApiClient api = client(server)) {
      awaitAllWell(api, "synced");

      appendfsync(redis, "no");
      eventually().until(() -> submit(api).status() == 503);
      Answer refused = submit(api);
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.at("/detail"))
          .contains("Redis refuses writes now (GET /api/v1/store says why)", "nothing was changed");
      assertThat(durability(refused)).isEmpty();
      awaitTold(api, "DOWN", "has appendfsync no: set appendfsync always");
      assertThat(api.get("/api/v1/store").text())
          .contains("has appendfsync no: set appendfsync always");
      assertThat(output.getAll()).contains("UNSAFE: durability synced cannot be kept now");

      appendfsync(redis, "always");
      awaitAllWell(api, "synced");
    }
  }

  private static void appendfsync(RedisServer redis, String value) throws IOException {
    assertThat(Resp.call(redis.port(), "CONFIG", "SET", "appendfsync", value)).isEqualTo("OK");
  }

  /** Waits until answers name a durability and neither health nor doctor name a finding. */
  private static void awaitAllWell(ApiClient api, String durability) {
    eventually()
        .untilAsserted(
            () -> {
              Answer answer = submit(api);
              assertThat(durability(answer)).as(answer.text()).isEqualTo(durability);
              assertThat(Told.by(api)).isEqualTo(ALL_WELL);
            });
  }

  /** Waits until health and doctor name a finding. */
  private static void awaitTold(ApiClient api, String status, String finding) {
    eventually()
        .untilAsserted(
            () -> {
              Told told = Told.by(api);
              assertThat(told.status()).isEqualTo(status);
              assertThat(told.health()).anyMatch(text -> text.contains(finding));
              assertThat(told.doctor()).anyMatch(text -> text.contains(finding));
            });
  }

  private static Answer submit(ApiClient api) {
    return api.post(
        "/api/v1/jobs",
        "{\"application\":\"shop\",\"taskType\":\"later\",\"taskId\":\"%s\",\"delay\":\"1h\"}"
            .formatted(UUID.randomUUID()));
  }

  private static String durability(Answer answer) {
    return answer.header("Punctual-Durability");
  }

  private static ConditionFactory eventually() {
    return Awaitility.await().dontCatchUncaughtExceptions().atMost(Duration.ofSeconds(60));
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
                "--management.endpoint.health.show-details=always",
                "--spring.data.redis.host=127.0.0.1",
                "--spring.data.redis.port=" + redis.port()));
    arguments.addAll(List.of(more));
    return new SpringApplication(PunctualServerApplication.class)
        .run(arguments.toArray(String[]::new));
  }
}
