package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.DIRECTORY;
import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/**
 * The demo shop through what happens to shops: it ends at once, no scheduler is there, its partner
 * fails.
 */
@Tag("full")
class ShopIT {

  private static JavaProcess scheduler;

  @BeforeAll
  static void start() {
    scheduler = PROGRAMS.scheduler(REGISTRY, REDIS.port(), "shop").start().awaitReady();
  }

  @AfterAll
  static void stop() {
    scheduler.close();
  }

  /** Of a name of its own: other tests have shops, too. */
  private static JavaProcess shop(String name, String database) {
    return shop(name, scheduler, database);
  }

  private static JavaProcess shop(
      String name, JavaProcess scheduler, String database, String... options) {
    List<String> all =
        new ArrayList<>(
            List.of(
                database,
                "--spring.application.name=" + name,
                "--eureka.client.service-url.defaultZone=" + REGISTRY.url() + "/eureka/",
                "--punctual.url=" + scheduler.url(),
                "--punctual.callback.accept-unsigned=true"));
    all.addAll(List.of(options));
    return PROGRAMS.program("demo-order-service", all.toArray(String[]::new)).start().awaitReady();
  }

  @Test
  void whatWasOrderedOutlivesTheProcessAndIsClosedByTheNext() throws Exception {
    // Where the shop's own default for the rest of the address puts it.
    String file = "--shop.data=" + DIRECTORY.resolve("shop-dies").toAbsolutePath();
    String unpaid;
    String paid;
    try (JavaProcess dying = shop("shop-dies", file)) {
      unpaid = place(dying, "teapot", 20);
      paid = place(dying, "teapot", 600);
      assertThat(available(dying, "teapot")).isOne();
      dying.kill();
    }

    try (JavaProcess next = shop("shop-dies", file)) {
      Waiting.until("the order closes", () -> status(next, unpaid).equals("CLOSED"));
      assertThat(available(next, "teapot")).isEqualTo(2);
      assertThat(pay(next, paid).status()).isEqualTo(200);
      assertThat(pay(next, unpaid).status()).isEqualTo(409);
      Waiting.until("the partner knows", () -> !order(next, paid).get("notifiedAt").isNull());
      assertThat(available(next, "teapot")).isEqualTo(2);
    }
  }

  @Test
  void anOrderTakenWhileNoSchedulerIsThereClosesWhenOneIs() throws Exception {
    JavaProcess another = PROGRAMS.scheduler(REGISTRY, REDIS.port(), "shop-late");
    try (another;
        JavaProcess shop =
            shop("shop-early", another, Programs.SHOP_IN_MEMORY, "--punctual.submit-timeout=1s")) {
      String id = place(shop, "tea", 1);
      assertThat(status(shop, id)).isEqualTo("OPEN");

      another.start().awaitReady();

      Waiting.until("the order closes", () -> status(shop, id).equals("CLOSED"));
    }
  }

  /**
   * Each of whose orders is a transaction that sends two jobs; its database has ten connections.
   */
  @Test
  void aSchedulerThatDoesNotAnswerIsNoOutageOfTheShop() throws Exception {
    JavaProcess stalled = PROGRAMS.scheduler(REGISTRY, REDIS.port(), "shop-stalled");
    try (stalled;
        JavaProcess shop =
            shop(
                "shop-without-outbox",
                stalled.start().awaitReady(),
                Programs.SHOP_IN_MEMORY,
                "--punctual.outbox.enabled=false",
                "--spring.datasource.hikari.maximum-pool-size=10",
                "--spring.datasource.hikari.connection-timeout=25000",
                // Longer than the connection timeout: if an order held its connection during a
                // call, other orders would fail.
                "--punctual.submit-timeout=60s")) {
      stalled.suspend();
      List<CompletableFuture<String>> placed = new ArrayList<>();
      try (ExecutorService customers = Executors.newVirtualThreadPerTaskExecutor()) {
        for (int i = 0; i < 100; i++) {
          placed.add(CompletableFuture.supplyAsync(() -> placed(shop, "tea", 1), customers));
        }
      } finally {
        stalled.resume();
      }

      // What was sent meanwhile was kept, and is made once the scheduler goes on.
      for (CompletableFuture<String> id : placed) {
        Waiting.until("the order closes", () -> status(shop, id.join()).equals("CLOSED"));
      }
    }
  }

  private static String placed(JavaProcess shop, String item, int seconds) {
    try {
      return placed(
          Http.post(shop.url() + "/orders", order(item, seconds), Duration.ofSeconds(50)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aPartnerThatIsAwayIsToldWhenItIsBack() throws Exception {
    try (JavaProcess shop = shop("shop-partner", Programs.SHOP_IN_MEMORY)) {
      assertThat(partner(shop, "DOWN").status()).isEqualTo(200);
      String id = place(shop, "cake", 600);
      assertThat(pay(shop, id).status()).isEqualTo(200);
      Waiting.until(
          "the first three steps of the ladder are walked",
          () ->
              order(shop, id).get("notifyAttempts").intValue() == 3
                  && state("shop-partner", "payment.notify", id).equals("delayed"));
      Waiting.until(
          "its end is called off",
          () -> state("shop-partner", "order.close", id).equals("cancelled"));

      assertThat(partner(shop, "UP").status()).isEqualTo(200);
      assertThat(Http.post(job("shop-partner", "payment.notify", id) + "/run", "{}").status())
          .isEqualTo(200);

      Waiting.until("the partner knows", () -> !order(shop, id).get("notifiedAt").isNull());
      assertThat(order(shop, id).get("notifyAttempts").intValue()).isEqualTo(4);
    }
  }

  @Test
  void theTraceOfAnOrderGoesOnInItsJobsAndNothingElseIsTraced() throws Exception {
    List<Span> spans = new CopyOnWriteArrayList<>();
    HttpServer collector =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    collector.createContext("/v1/traces", exchange -> collect(exchange, spans));
    collector.start();
    try (JavaProcess shop =
        shop(
            "shop-traced",
            scheduler,
            Programs.SHOP_IN_MEMORY,
            "--management.tracing.sampling.probability=1",
            "--management.opentelemetry.tracing.export.schedule-delay=100ms",
            "--management.opentelemetry.tracing.export.otlp.endpoint=http://127.0.0.1:"
                + collector.getAddress().getPort()
                + "/v1/traces")) {
      String id = place(shop, "tea", 3);
      Waiting.until("the order closes", () -> status(shop, id).equals("CLOSED"));
      // They are exported as they end, in several requests.
      for (String name :
          List.of(
              "http post /orders",
              "send order.remind",
              "send order.close",
              "process order.remind",
              "process order.close")) {
        Waiting.until("the span is exported: " + name, () -> !named(spans, name).isEmpty());
      }

      Span placed = named(spans, "http post /orders").getFirst();
      for (String job : List.of("order.remind", "order.close")) {
        assertThat(named(spans, "send " + job)).hasSize(1);
        assertThat(named(spans, "process " + job)).hasSize(1);
        Span sent = named(spans, "send " + job).getFirst();
        assertThat(sent.getTraceId()).isEqualTo(placed.getTraceId());
        assertThat(sent.getParentSpanId()).isEqualTo(placed.getSpanId());
        Span span = named(spans, "process " + job).getFirst();
        assertThat(span.getTraceId()).isEqualTo(placed.getTraceId());
        assertThat(span.getParentSpanId()).isEqualTo(sent.getSpanId());
      }
      // No health check, no call of the scheduler, no look for lost jobs.
      assertThat(spans)
          .extracting(Span::getName)
          .containsOnly(
              "http post /orders",
              "http get /orders/{id}",
              "send order.remind",
              "send order.close",
              "process order.remind",
              "process order.close");
    } finally {
      collector.stop(0);
    }
  }

  private static void collect(HttpExchange exchange, List<Span> spans) throws IOException {
    try (exchange) {
      ExportTraceServiceRequest.parseFrom(exchange.getRequestBody()).getResourceSpansList().stream()
          .flatMap(resource -> resource.getScopeSpansList().stream())
          .forEach(scope -> spans.addAll(scope.getSpansList()));
      exchange.getResponseHeaders().add("Content-Type", "application/x-protobuf");
      exchange.sendResponseHeaders(200, -1);
    }
  }

  private static List<Span> named(List<Span> spans, String name) {
    return spans.stream().filter(span -> span.getName().equals(name)).toList();
  }

  private static String job(String application, String taskType, String id) {
    return scheduler.url() + "/api/v1/jobs/" + application + "/" + taskType + "/" + id;
  }

  private static String state(String application, String taskType, String id) throws IOException {
    return Http.get(job(application, taskType, id)).json().get("state").stringValue();
  }

  static Http.Answer partner(JavaProcess shop, String mode) throws IOException {
    return Http.put(shop.url() + "/partner", "{\"mode\":\"" + mode + "\"}");
  }

  private static String place(JavaProcess shop, String item, int seconds) throws IOException {
    return placed(Http.post(shop.url() + "/orders", order(item, seconds)));
  }

  private static String placed(Http.Answer answer) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(201);
    return answer.json().get("id").stringValue();
  }

  private static String order(String item, int seconds) {
    return "{\"item\":\"%s\",\"payWithinSeconds\":%d}".formatted(item, seconds);
  }

  private static Http.Answer pay(JavaProcess shop, String id) throws IOException {
    return Http.post(shop.url() + "/orders/" + id + "/pay", "");
  }

  private static JsonNode order(JavaProcess shop, String id) throws IOException {
    return Http.get(shop.url() + "/orders/" + id).json();
  }

  private static String status(JavaProcess shop, String id) throws IOException {
    return order(shop, id).get("status").stringValue();
  }

  private static int available(JavaProcess shop, String item) throws IOException {
    for (JsonNode one : Http.get(shop.url() + "/shop").json().get("items")) {
      if (one.get("name").stringValue().equals(item)) {
        return one.get("available").intValue();
      }
    }
    throw new AssertionError("no " + item + " on sale");
  }
}
