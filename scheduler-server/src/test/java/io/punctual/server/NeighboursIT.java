package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.dispatch.HttpDispatcher;
import io.punctual.server.dispatch.ShortDispatchTimes;
import io.punctual.test.redis.RedisExtension;
import io.punctual.wire.CallbackRequest;
import io.punctual.wire.CallbackResult;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A job that ends its worker's process costs no other job an attempt. */
@Import(ShortDispatchTimes.class)
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = "eureka.client.enabled=false")
@Tag("full")
class NeighboursIT extends SharedRedisTestBase {

  private static final JsonMapper JSON = new JsonMapper();
  private static final int NEIGHBOURS = 20;
  private static final long TAKES_MS = 400;
  private static final List<String> PROTOCOLS = List.of("batch", "single");
  private static final List<Worker> WORKERS = List.of(new Worker(), new Worker(), new Worker());

  @Autowired private HttpDispatcher dispatcher;
  private final String run = UUID.randomUUID().toString().substring(0, 8);

  /** A process that is there again at once when a job has ended it. */
  private static final class Worker {

    private final StreamingWorker server;
    private CompletableFuture<Void> life = new CompletableFuture<>();

    Worker() {
      try {
        server = new StreamingWorker();
      } catch (IOException e) {
        throw new AssertionError("no port", e);
      }
      for (String name : List.of("one", "three", "split")) {
        for (String protocol : PROTOCOLS) {
          server.on("/callback/" + app(name, protocol), this::run);
        }
      }
    }

    private void run(CallbackRequest request, OutputStream out)
        throws IOException, InterruptedException {
      CompletableFuture<Void> now = life();
      for (CallbackRequest.Job job : request.jobs()) {
        if (job.taskType().equals("order.poison")) {
          end(now);
        }
      }
      try {
        now.get(TAKES_MS, TimeUnit.MILLISECONDS);
        throw new IOException("the process has ended");
      } catch (ExecutionException e) {
        throw new AssertionError(e);
      } catch (TimeoutException e) {
        for (CallbackRequest.Job job : request.jobs()) {
          CallbackResult done =
              new CallbackResult(job.taskId(), job.incarnation(), "done", null, null, null);
          out.write((JSON.writeValueAsString(done) + "\n").getBytes(StandardCharsets.UTF_8));
        }
      }
    }

    private synchronized CompletableFuture<Void> life() {
      return life;
    }

    private synchronized void end(CompletableFuture<Void> now) {
      if (life == now) {
        life = new CompletableFuture<>();
      }
      now.complete(null);
    }
  }

  @DynamicPropertySource
  static void instances(DynamicPropertyRegistry registry) {
    for (String protocol : PROTOCOLS) {
      String one = app("one", protocol);
      String three = app("three", protocol);
      instance(registry, one, 0, WORKERS.get(0).server.port(), protocol);
      for (int i = 0; i < 3; i++) {
        instance(registry, three, i, WORKERS.get(i).server.port(), protocol);
      }
      // This scheduler sends the neighbours there, and another one the poison.
      instance(registry, app("split", protocol), 0, WORKERS.get(0).server.port(), protocol);
      for (String instance : List.of(one + "[0]", three + "[0]", three + "[1]", three + "[2]")) {
        registry.add(
            "spring.cloud.discovery.client.simple.instances."
                + instance
                + ".metadata[punctual.task-types]",
            () -> "order.close,order.poison");
      }
    }
  }

  private static String app(String name, String protocol) {
    return name + "-" + protocol;
  }

  static List<String> protocols() {
    return PROTOCOLS;
  }

  @AfterEach
  void nothingIsHeldForJobsThatEnded() {
    Awaitility.await()
        .untilAsserted(
            () -> {
              assertThat(dispatcher.inMemory().inFlight()).isZero();
              assertThat(dispatcher.inMemory().waiting()).isZero();
            });
  }

  @AfterAll
  static void stop() {
    WORKERS.forEach(worker -> worker.server.close());
  }

  @ParameterizedTest
  @MethodSource("protocols")
  void aJobThatEndsTheOnlyInstanceDiesAndItsNeighboursAreDone(String protocol) {
    neighboursAreDoneAndThePoisonIsDead(app("one", protocol));
  }

  @ParameterizedTest
  @MethodSource("protocols")
  void aJobThatEndsOneInstanceAfterTheOtherDiesAndItsNeighboursAreDone(String protocol) {
    neighboursAreDoneAndThePoisonIsDead(app("three", protocol));
  }

  @ParameterizedTest
  @MethodSource("protocols")
  void aNeighbourIsDoneAlthoughAnotherSchedulersJobEndsTheInstanceThreeTimes(String protocol) {
    String split = app("split", protocol);
    try (ConfigurableApplicationContext another = poisonScheduler(protocol)) {
      assertThat(another.isRunning()).isTrue();
      // Three attempts each; the poison ends the process at once each time. So the neighbour is
      // done only if it does not count each end: the two schedulers may notice some of the ends
      // more than a second apart.
      String jobs =
          job(split, "order.close", "neighbour", 300, "10ms,10ms")
              + ","
              + job(split, "order.poison", "poison", 500, "10ms,10ms");
      assertThat(api.post("/api/v1/jobs/batch", "{\"jobs\":[" + jobs + "]}").status())
          .isEqualTo(200);

      Awaitility.await()
          .atMost(Duration.ofSeconds(90))
          .untilAsserted(
              () -> {
                assertThat(state(split, "order.poison", "poison")).isEqualTo("dead");
                assertThat(state(split, "order.close", "neighbour")).isIn("finished", "dead");
              });
      assertThat(state(split, "order.close", "neighbour")).isEqualTo("finished");
      assertThat(find(split, "order.poison", "poison").at("/attempts/counted").asInt())
          .isEqualTo(3);
    }
  }

  private ConfigurableApplicationContext poisonScheduler(String protocol) {
    String split = app("split", protocol);
    String instance = "--spring.cloud.discovery.client.simple.instances." + split + "[0].";
    return new SpringApplication(PunctualServerApplication.class, ShortDispatchTimes.class)
        .run(
            "--server.port=0",
            "--eureka.client.enabled=false",
            "--punctual.key-prefix=" + prefix,
            "--spring.data.redis.host=" + RedisExtension.redis().host(),
            "--spring.data.redis.port=" + RedisExtension.redis().port(),
            instance + "uri=http://127.0.0.1:" + WORKERS.get(0).server.port(),
            instance + "instance-id=" + split + "-0",
            instance + "metadata[punctual.task-types]=order.poison",
            instance + "metadata[punctual.callback-path]=/callback/" + split,
            instance + "metadata[punctual.protocol]=" + protocol,
            instance + "metadata[punctual.concurrency]=100");
  }

  private String state(String app, String type, String id) {
    return find(app, type, id).path("state").asString("");
  }

  private void neighboursAreDoneAndThePoisonIsDead(String app) {
    List<String> jobs = new ArrayList<>();
    for (int i = 0; i < NEIGHBOURS; i++) {
      // Two attempts; apart, so that each travels in a request of its own.
      jobs.add(job(app, "order.close", "neighbour-" + i, 300 + 5 * i, "10ms"));
    }
    jobs.add(job(app, "order.poison", "poison", 600, "10ms,10ms"));
    assertThat(
            api.post("/api/v1/jobs/batch", "{\"jobs\":[" + String.join(",", jobs) + "]}").status())
        .isEqualTo(200);

    Awaitility.await()
        .atMost(Duration.ofSeconds(90))
        .untilAsserted(
            () -> {
              assertThat(find(app, "order.poison", "poison").get("state").asString())
                  .isEqualTo("dead");
              for (int i = 0; i < NEIGHBOURS; i++) {
                assertThat(find(app, "order.close", "neighbour-" + i).get("state").asString())
                    .isEqualTo("finished");
              }
            });
    JsonNode attempts = find(app, "order.poison", "poison").get("attempts");
    assertThat(attempts.get("counted").asInt()).isEqualTo(3);
    JsonNode neighbours = api.get("/api/v1/queues/" + app + "/order.close").body();
    assertThat(neighbours.at("/counters/dead").asInt()).isZero();
  }

  private JsonNode find(String app, String type, String id) {
    return api.get("/api/v1/jobs/" + app + "/" + type + "/" + run + "-" + id).body();
  }

  private String job(String app, String type, String id, int delay, String retry) {
    return "{\"application\":\"%s\",\"taskType\":\"%s\",\"taskId\":\"%s-%s\",\"delay\":%d,\"retry\":\"%s\"}"
        .formatted(app, type, run, id, delay, retry);
  }
}
