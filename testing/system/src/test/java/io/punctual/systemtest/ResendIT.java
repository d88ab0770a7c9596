package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.DIRECTORY;
import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.Ports;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/**
 * Two shops with an outbox that keeps what it sent, two schedulers, and a Redis that loses jobs:
 * all jobs are there again as they were, and what was cancelled or done is not.
 */
@Tag("full")
class ResendIT {

  private static final List<String> APPLICATIONS = List.of("resend-tea", "resend-cake");
  private static final int ORDERS = 60;
  private static final int PAID = 15;

  private static Path data;
  private static RedisServer redis;
  private static JavaProcess first;
  private static JavaProcess second;
  private static final List<JavaProcess> SHOPS = new ArrayList<>();

  @BeforeAll
  static void start() throws IOException {
    data = Files.createDirectories(DIRECTORY.resolve("resend-redis").toAbsolutePath());
    redis = RedisServer.start(Ports.free(), data, "--appendonly", "no", "--save", "");
    first = PROGRAMS.scheduler(REGISTRY, redis.port(), "resend").start();
    second = PROGRAMS.scheduler(REGISTRY, redis.port(), "resend").start();
    for (String application : APPLICATIONS) {
      SHOPS.add(
          PROGRAMS
              .program(
                  "demo-order-service",
                  "--shop.data=" + DIRECTORY.resolve(application).toAbsolutePath(),
                  "--spring.application.name=" + application,
                  "--eureka.client.service-url.defaultZone=" + REGISTRY.url() + "/eureka/",
                  "--punctual.url=" + first.url() + "," + second.url(),
                  "--punctual.callback.accept-unsigned=true",
                  "--punctual.outbox.keep-sent=1d",
                  "--management.endpoint.health.show-details=always")
              .start());
    }
    first.awaitReady();
    second.awaitReady();
    for (JavaProcess shop : SHOPS) {
      shop.awaitReady();
      assertThat(ShopIT.partner(shop, "UP").status()).isEqualTo(200);
    }
  }

  @AfterAll
  static void stop() {
    SHOPS.forEach(JavaProcess::close);
    first.close();
    second.close();
    redis.close();
  }

  @Test
  void anEmptiedRedisIsFilledAgainThoughASchedulerIsKilledMeanwhile() throws Exception {
    trade();
    Map<String, String> before = waiting();
    List<String> ended = endings();

    Resp.call(redis.port(), "FLUSHALL");
    Waiting.until("some jobs are back", () -> waiting().size() > 20);
    first.kill();

    awaitAsBefore(before, ended, second);
    first.start().awaitReady();
  }

  @Test
  void anOlderCopyThatIsPutInPlaceWithoutSchedulersIsCompleted() throws Exception {
    trade();
    List<String> unpaid = trade();
    Resp.call(redis.port(), "SAVE");
    Path copy = data.resolve("copy");
    Files.copy(data.resolve("dump.rdb"), copy, StandardCopyOption.REPLACE_EXISTING);
    for (String order : unpaid) {
      pay(order);
    }
    trade();
    awaitRelayed();
    Map<String, String> before = waiting();
    List<String> ended = endings();

    first.kill();
    second.kill();
    redis.kill();
    Files.move(copy, data.resolve("dump.rdb"), StandardCopyOption.REPLACE_EXISTING);
    redis.start();
    // As if the copy were an hour old: no scheduler has looked at it since.
    long looked = Long.parseLong(Resp.call(redis.port(), "HGET", "resend:epoch", "looked"));
    Resp.call(redis.port(), "HSET", "resend:epoch", "looked", Long.toString(looked - 3_600_000));
    first.start();
    second.start();
    first.awaitReady();
    second.awaitReady();

    awaitAsBefore(before, ended, first);
  }

  @Test
  void aNewRedisIsFilled() throws Exception {
    trade();
    Map<String, String> before = waiting();
    List<String> ended = endings();

    redis.kill();
    Files.deleteIfExists(data.resolve("dump.rdb"));
    redis.start();

    awaitAsBefore(before, ended, first);
  }

  /** Orders in both shops, some of which are paid; returns some that are not. */
  private static List<String> trade() throws IOException {
    List<String> unpaid = new ArrayList<>();
    for (JavaProcess shop : SHOPS) {
      for (int i = 0; i < ORDERS; i++) {
        Http.Answer answer =
            Http.post(shop.url() + "/orders", "{\"item\":\"tea\",\"payWithinSeconds\":3600}");
        assertThat(answer.status()).as(answer.body()).isEqualTo(201);
        String order = shop.url() + "/orders/" + answer.json().get("id").stringValue();
        if (i < PAID) {
          pay(order);
        } else if (i < 2 * PAID) {
          unpaid.add(order);
        }
      }
    }
    awaitRelayed();
    return unpaid;
  }

  private static void pay(String order) throws IOException {
    assertThat(Http.post(order + "/pay", "").status()).isEqualTo(200);
  }

  /** All is sent, and jobs that are due now are done and forgotten. */
  private static void awaitRelayed() {
    for (int i = 0; i < SHOPS.size(); i++) {
      JavaProcess shop = SHOPS.get(i);
      String application = APPLICATIONS.get(i);
      Waiting.until(
          "all is sent and the partner knows of all payments",
          () ->
              outbox(shop).get("waiting").intValue() == 0
                  && drained(application, "payment.notify"));
    }
    // What is done is forgotten within seconds: asked for by its effect, in the counts below.
  }

  private static boolean drained(String application, String type) throws IOException {
    JsonNode queue = Http.get(first.url() + "/api/v1/queues/" + application + "/" + type).json();
    return queue.get("delayed").intValue() == 0 && queue.get("reserved").intValue() == 0;
  }

  private static JsonNode outbox(JavaProcess shop) throws IOException {
    return Http.get(shop.url() + "/actuator/health")
        .json()
        .at("/components/punctualOutbox/details");
  }

  private static Map<String, String> waiting() throws IOException {
    return waiting(second);
  }

  /** The due time of each waiting job, by application, task type and id. */
  private static Map<String, String> waiting(JavaProcess scheduler) throws IOException {
    Map<String, String> all = new TreeMap<>();
    for (String application : APPLICATIONS) {
      for (String type : List.of("order.close", "order.remind", "payment.notify")) {
        all.putAll(jobs(scheduler, application, type));
      }
    }
    return all;
  }

  private static Map<String, String> jobs(JavaProcess scheduler, String application, String type)
      throws IOException {
    Map<String, String> jobs = new TreeMap<>();
    String cursor = "";
    do {
      JsonNode page =
          Http.get(
                  "%s/api/v1/jobs?application=%s&taskType=%s&state=delayed&limit=500%s"
                      .formatted(scheduler.url(), application, type, cursor))
              .json();
      for (JsonNode job : page.get("items")) {
        jobs.put(
            application + "/" + type + "/" + job.get("taskId").stringValue(),
            job.get("dueAt").stringValue());
      }
      JsonNode next = page.get("nextCursor");
      cursor = next == null || next.isNull() ? "" : "&cursor=" + next.stringValue();
    } while (!cursor.isEmpty());
    return jobs;
  }

  /** When each shop's last time of sending again ended. */
  private static List<String> endings() throws IOException {
    List<String> endings = new ArrayList<>();
    for (JavaProcess shop : SHOPS) {
      endings.add(outbox(shop).at("/resend/endedAt").asString(""));
    }
    return endings;
  }

  private static void awaitAsBefore(
      Map<String, String> before, List<String> ended, JavaProcess scheduler) throws Exception {
    for (int i = 0; i < SHOPS.size(); i++) {
      JavaProcess shop = SHOPS.get(i);
      String earlier = ended.get(i);
      Waiting.until(
          "the shop has sent again",
          () -> {
            String end = outbox(shop).at("/resend/endedAt").asString("");
            return end.startsWith("20") && !end.equals(earlier);
          });
      JsonNode resend = outbox(shop).get("resend");
      System.out.println("sent again: " + resend);
      assertThat(resend.get("missing").intValue()).isPositive();
      assertThat(resend.get("refused").intValue()).isZero();
      assertThat(outbox(shop).get("refused").intValue()).isZero();
    }
    assertThat(waiting(scheduler)).isEqualTo(before);
    for (JavaProcess shop : SHOPS) {
      for (JsonNode order : Http.get(shop.url() + "/orders").json()) {
        if (order.get("status").stringValue().equals("PAID")) {
          assertThat(order.get("notifyAttempts").intValue()).isEqualTo(1);
        }
      }
    }
  }
}
