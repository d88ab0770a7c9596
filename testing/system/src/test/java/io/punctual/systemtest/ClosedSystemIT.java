package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.DIRECTORY;
import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.punctual.wire.CallbackSignature;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The system as it is meant to be run: with secrets, made by its own commands. Everything else is
 * an attempt to get in.
 */
@Tag("full")
class ClosedSystemIT {

  private static final JsonMapper JSON = new JsonMapper();
  private static final HttpClient CLIENT =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(20)).build();
  private static final String PREFIX = "closed";
  private static final String REGISTRY_PASSWORD = "9f2c7be1d04a5836";

  /** Whatever Eureka's client would log. */
  private static final String EVERY_LINE = "--logging.level.com.netflix=trace";

  private static final Queue<HttpExchangeSeen> IMPOSTOR_SAW = new ConcurrentLinkedQueue<>();

  private static JavaProcess registry;
  private static JavaProcess scheduler;
  private static JavaProcess demo;
  private static HttpServer impostor;
  private static final Path CREDENTIALS = DIRECTORY.resolve("closed/order-service.properties");

  private static String master;
  private static String foreignToken;

  private record HttpExchangeSeen(Map<String, List<String>> headers, byte[] body) {}

  @BeforeAll
  static void start() throws IOException {
    String[] redis = {
      "--spring.data.redis.host=127.0.0.1",
      "--spring.data.redis.port=" + REDIS.port(),
      "--punctual.key-prefix=" + PREFIX
    };
    registry =
        PROGRAMS.program("eureka-registry", "--punctual.registry.password=" + REGISTRY_PASSWORD);
    String eureka =
        "--eureka.client.service-url.defaultZone=http://punctual:"
            + REGISTRY_PASSWORD
            + "@"
            + registry.url().substring("http://".length())
            + "/eureka/";
    master = PROGRAMS.command("signing-key").strip();
    String key = "--punctual.security.signing-keys=" + master;
    Files.createDirectories(CREDENTIALS.getParent());
    String file = "--file=" + CREDENTIALS;
    PROGRAMS.command("credentials", "order-service", file, key, redis[0], redis[1], redis[2]);
    assertThat(
            PROGRAMS.command(
                "credentials", "order-service", file, key, redis[0], redis[1], redis[2]))
        .contains("stays as it is");
    foreignToken =
        PROGRAMS
            .command("credentials", "other-service", key, redis[0], redis[1], redis[2])
            .lines()
            .findFirst()
            .orElseThrow()
            .replace("punctual.token=", "");
    scheduler =
        PROGRAMS
            .program(
                "scheduler-server",
                redis[0],
                redis[1],
                redis[2],
                key,
                eureka,
                EVERY_LINE,
                // All of it is on this machine here.
                "--punctual.dispatch.allowed-networks=127.0.0.0/8")
            .start();
    demo =
        PROGRAMS
            .program(
                "demo-order-service",
                eureka,
                EVERY_LINE,
                Programs.SHOP_IN_MEMORY,
                "--spring.config.import=" + CREDENTIALS.toUri())
            .start();
    // As in a cluster and on a developer's machine: in no order.
    Waiting.until("the demo misses the registry", () -> missesOfTheRegistry(demo) > 0);
    Waiting.until("the scheduler misses the registry", () -> missesOfTheRegistry(scheduler) > 0);
    registry.start().awaitReady();
    scheduler.awaitReady();
    demo.awaitReady();
    impostor = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    impostor.createContext(
        "/",
        exchange -> {
          byte[] body = exchange.getRequestBody().readAllBytes();
          JsonNode jobs = JSON.readTree(body).get("jobs");
          IMPOSTOR_SAW.add(new HttpExchangeSeen(Map.copyOf(exchange.getRequestHeaders()), body));
          StringBuilder done = new StringBuilder();
          for (JsonNode job : jobs) {
            done.append(
                """
                {"taskId":"%s","incarnation":"%s","outcome":"done"}
                """
                    .formatted(
                        job.get("taskId").stringValue(), job.get("incarnation").stringValue()));
          }
          byte[] answer = done.toString().getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    impostor.start();
  }

  @AfterAll
  static void stop() {
    impostor.stop(0);
    demo.close();
    scheduler.close();
    registry.close();
  }

  private static HttpResponse<String> call(
      String method, String url, String body, Map<String, String> headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url))
            .timeout(Duration.ofSeconds(20))
            .header("Content-Type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(body));
    headers.forEach(request::header);
    return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static String place() throws IOException, InterruptedException {
    HttpResponse<String> order =
        call("POST", demo.url() + "/orders", "{\"item\":\"tea\",\"payWithinSeconds\":1}", Map.of());
    assertThat(order.statusCode()).as(order.body()).isEqualTo(201);
    return JSON.readTree(order.body()).get("id").stringValue();
  }

  private static String status(String order) throws IOException, InterruptedException {
    return JSON.readTree(call("GET", demo.url() + "/orders/" + order, "", Map.of()).body())
        .get("status")
        .stringValue();
  }

  @Test
  void anOrderClosesByItself() throws Exception {
    String order = place();
    Waiting.until("the order closes", () -> status(order).equals("CLOSED"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "POST|/api/v1/jobs|{\"application\":\"order-service\",\"taskType\":\"order.close\",\"delay\":0}",
        "POST|/api/v1/jobs/batch|{\"jobs\":[{\"application\":\"order-service\",\"taskType\":\"order.close\",\"delay\":0}]}",
        "POST|/api/v1/claims|{\"application\":\"order-service\",\"taskTypes\":[\"order.close\"]}",
        "POST|/api/v1/command|{\"command\":\"pop\",\"application\":\"order-service\",\"topic\":\"order.close\"}",
        "DELETE|/api/v1/jobs/order-service/order.close/1|",
        "GET|/api/v1/jobs/order-service/order.close/1|",
        "GET|/api/v1/jobs?application=order-service&tag=a|",
        "POST|/api/v1/jobs/order-service/order.close/1/requeue|",
        "POST|/api/v1/jobs/order-service/order.close/1/run|",
        "POST|/api/v1/jobs:requeue|{\"application\":\"order-service\",\"taskType\":\"order.close\"}",
        "POST|/api/v1/jobs/order-service/order.close/1/restore|",
        "POST|/api/v1/jobs:restore|{\"application\":\"order-service\",\"operation\":\"o\"}",
        "POST|/api/v1/jobs:purge|{\"application\":\"order-service\",\"taskType\":\"order.close\",\"state\":\"delayed\"}",
        "POST|/api/v1/queues/order-service/order.close/pause|",
        "PUT|/api/v1/queues/order-service/order.close/limits|{}",
        "PUT|/api/v1/queues/order-service/order.close/expiry|{}",
        "POST|/api/v1/store/losses/acknowledge|",
        "GET|/actuator/prometheus|",
        "GET|/actuator/env|"
      })
  void nobodyElseGetsIn(String method, String path, String body) throws Exception {
    String given = body == null ? "" : body;
    assertThat(call(method, scheduler.url() + path, given, Map.of()).statusCode()).isEqualTo(401);
    HttpResponse<String> other =
        call(
            method,
            scheduler.url() + path,
            given,
            Map.of("Authorization", "Bearer " + foreignToken));
    assertThat(other.statusCode() == 403 || other.body().contains("\"status\":403"))
        .as(other.statusCode() + " " + other.body())
        .isTrue();
  }

  private static Map<String, String> signed(
      CallbackSignature.Key key, String id, Instant at, String body) {
    String timestamp = Long.toString(at.getEpochSecond());
    return Map.of(
        "webhook-id",
        id,
        "webhook-timestamp",
        timestamp,
        "webhook-signature",
        CallbackSignature.sign(List.of(key), id, timestamp, body.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void aForgedOrRepeatedCallbackIsRefused() throws Exception {
    String url = demo.url() + "/punctual/callback";
    String body =
        "{\"application\":\"order-service\",\"jobs\":[{\"taskId\":\"forged\","
            + "\"taskType\":\"none\",\"incarnation\":\"forged\",\"attempt\":1,\"version\":2,\"claimedAt\":1,"
            + "\"dueTime\":1,\"timeToRun\":1000,\"params\":\"\",\"headers\":{}}]}";
    CallbackSignature.Key own = CallbackSignature.Key.derived(master, "order-service");
    CallbackSignature.Key others = CallbackSignature.Key.derived(master, "other-service");
    Instant now = Instant.now();
    for (Map<String, String> headers :
        List.of(
            Map.<String, String>of(),
            signed(others, "msg_1", now, body),
            signed(own, "msg_1", now.minusSeconds(400), body),
            signed(own, "msg_1", now, body + " "))) {
      assertThat(call("POST", url, body, headers).statusCode()).isEqualTo(401);
    }
    String ofAnother = body.replace("\"jobs\":[", "\"instance\":\"i\",\"jobs\":[");
    assertThat(call("POST", url, ofAnother, signed(own, "msg_2", now, ofAnother)).statusCode())
        .isEqualTo(421);
    String late = "msg_3_" + now.minusSeconds(60).toEpochMilli();
    assertThat(call("POST", url, body, signed(own, late, now, body)).statusCode()).isEqualTo(421);
    Map<String, String> right = signed(own, "msg_right", now, body);
    HttpResponse<String> once = call("POST", url, body, right);
    assertThat(once.statusCode()).isEqualTo(200);
    assertThat(once.body()).contains("refused", "{\"signature\":\"v1,");
    assertThat(call("POST", url, body, right).statusCode()).isEqualTo(401);
  }

  @Test
  void anApplicationAsksWithItsOwnTokenWhetherItIsReached() {
    Waiting.until(
        "the demo's own log says so",
        () ->
            Files.readString(demo.log())
                .contains(
                    "a scheduler reaches this instance at "
                        + demo.url()
                        + "/punctual/callback. A signed call got through, and its signed answer"));
  }

  @Test
  void anImpostorInTheRegistryMakesNoJobDisappear() throws Exception {
    RegistryEntry entry =
        RegistryEntry.of(
            "order-service",
            "impostor",
            "127.0.0.1",
            impostor.getAddress().getPort(),
            "order.close");
    assertThat(register(entry, Map.of())).isEqualTo(401);
    // Somebody who has the registry's password, of all things.
    assertThat(register(entry, registryUser())).isEqualTo(204);
    List<String> orders = Stream.generate(ClosedSystemIT::placeQuietly).limit(10).toList();
    Waiting.until("the impostor was asked for its key", () -> !IMPOSTOR_SAW.isEmpty());
    for (String order : orders) {
      Waiting.until("the order closes all the same", () -> status(order).equals("CLOSED"));
    }
    // It can sign no answer, and is sent no job. The real one refuses what it passes on, since the
    // address is signed.
    assertThat(IMPOSTOR_SAW)
        .allSatisfy(
            seen ->
                assertThat(new String(seen.body(), StandardCharsets.UTF_8))
                    .contains("\"address\":\"http://127.0.0.1:")
                    .endsWith("\"jobs\":[]}"));
    assertThat(
            call("DELETE", registry.url() + entry.path() + "/impostor", "", registryUser())
                .statusCode())
        .isEqualTo(200);
  }

  /** An instance chooses its protocol itself. */
  @Test
  void anImpostorOfTheSingleProtocolReadsNoJob() throws Exception {
    Queue<String> methods = new ConcurrentLinkedQueue<>();
    HttpServer single =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    single.createContext(
        "/",
        exchange -> {
          methods.add(exchange.getRequestMethod());
          exchange.getResponseHeaders().set("Allow", "POST");
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    single.start();
    int port = single.getAddress().getPort();
    RegistryEntry entry =
        RegistryEntry.of("order-service", "single-impostor", "127.0.0.1", port, "order.close")
            .speaks("single");
    try {
      assertThat(register(entry, registryUser())).isEqualTo(204);
      Waiting.until("the impostor was asked for its key", () -> !methods.isEmpty());
      for (String order : Stream.generate(ClosedSystemIT::placeQuietly).limit(10).toList()) {
        Waiting.until("the order closes all the same", () -> status(order).equals("CLOSED"));
      }
      assertThat(methods).containsOnly("OPTIONS");
      String workers = scheduler.url() + "/api/v1/workers?application=order-service";
      assertThat(call("GET", workers, "", ownToken()).body()).contains("answer-not-signed");
    } finally {
      call("DELETE", registry.url() + entry.path() + "/" + entry.id(), "", registryUser());
      single.stop(0);
    }
  }

  @Test
  void anApplicationThatCallsItselfAnothersNameGetsNothingOfIt() throws Exception {
    // Eureka looks up by virtual address, and this one claims that of the shop.
    RegistryEntry entry =
        RegistryEntry.of(
                "other-service",
                "disguised",
                "127.0.0.1",
                impostor.getAddress().getPort(),
                "secret.job")
            .calledBy("order-service");
    assertThat(register(entry, registryUser())).isEqualTo(204);
    Map<String, String> bearer = ownToken();
    assertThat(
            call(
                    "POST",
                    scheduler.url() + "/api/v1/jobs",
                    "{\"taskType\":\"secret.job\",\"taskId\":\"s\",\"delay\":0}",
                    bearer)
                .statusCode())
        .isEqualTo(201);
    String queue = scheduler.url() + "/api/v1/queues/order-service/secret.job";
    // The registry is read every two seconds; an order that closes later proves that it was.
    String order = place();
    Waiting.until("an order closes", () -> status(order).equals("CLOSED"));
    Waiting.until(
        "nobody is there for the job",
        () -> call("GET", queue, "", bearer).body().contains("\"parked\":true"));
    assertThat(JSON.readTree(call("GET", queue, "", bearer).body()).get("workers")).isEmpty();
    assertThat(IMPOSTOR_SAW)
        .noneMatch(seen -> new String(seen.body(), StandardCharsets.UTF_8).contains("secret.job"));
  }

  /** The order service's. */
  private static Map<String, String> ownToken() throws IOException {
    String line = Files.readAllLines(CREDENTIALS).get(0);
    return Map.of("Authorization", "Bearer " + line.replace("punctual.token=", ""));
  }

  private static String placeQuietly() {
    try {
      return place();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static Map<String, String> registryUser() {
    return Map.of("Authorization", "Basic " + encodedRegistryUser());
  }

  private static String encodedRegistryUser() {
    String user = "punctual:" + REGISTRY_PASSWORD;
    return Base64.getEncoder().encodeToString(user.getBytes(StandardCharsets.UTF_8));
  }

  /** The status that the registry answers. */
  private static int register(RegistryEntry entry, Map<String, String> headers)
      throws IOException, InterruptedException {
    return call("POST", registry.url() + entry.path(), entry.json(), headers).statusCode();
  }

  @ParameterizedTest
  @ValueSource(strings = {"169.254.169.254", "0.0.0.0", "10.255.255.1"})
  void noAddressIsCalledThatIsNotAllowed(String host) throws Exception {
    String application = "ssrf-" + host.replace('.', '-');
    String token =
        PROGRAMS
            .command(
                "credentials",
                application,
                "--spring.data.redis.host=127.0.0.1",
                "--spring.data.redis.port=" + REDIS.port(),
                "--punctual.key-prefix=" + PREFIX)
            .lines()
            .findFirst()
            .orElseThrow()
            .replace("punctual.token=", "");
    RegistryEntry entry = RegistryEntry.of(application, "bad", host, 80, "order.close");
    assertThat(register(entry, registryUser())).isEqualTo(204);
    Map<String, String> bearer = Map.of("Authorization", "Bearer " + token);
    assertThat(
            call(
                    "POST",
                    scheduler.url() + "/api/v1/jobs",
                    "{\"taskType\":\"order.close\",\"taskId\":\"a\",\"delay\":0}",
                    bearer)
                .statusCode())
        .isEqualTo(201);
    String job = scheduler.url() + "/api/v1/jobs/" + application + "/order.close/a";
    String workers = scheduler.url() + "/api/v1/workers?application=" + application;
    Waiting.until(
        "it is not called",
        () -> call("GET", workers, "", bearer).body().contains("address-not-allowed"));
    assertThat(JSON.readTree(call("GET", job, "", bearer).body()).at("/attempts/counted").asInt())
        .isZero();
  }

  @Test
  void noSecretIsInAnyLog() throws Exception {
    long ofDemo = missesOfTheRegistry(demo);
    long ofScheduler = missesOfTheRegistry(scheduler);
    registry.kill();
    Waiting.until("the demo notices the outage", () -> missesOfTheRegistry(demo) > ofDemo + 3);
    Waiting.until(
        "the scheduler notices it", () -> missesOfTheRegistry(scheduler) > ofScheduler + 3);
    registry.start().awaitReady();

    String credentials = Files.readString(CREDENTIALS);
    List<String> secrets =
        Stream.concat(
                Stream.of(master, REGISTRY_PASSWORD, encodedRegistryUser(), foreignToken),
                credentials.lines().map(line -> line.substring(line.indexOf('=') + 1)))
            .toList();
    assertThat(secrets).hasSize(6);
    for (JavaProcess process : List.of(registry, scheduler, demo)) {
      String log = Files.readString(process.log());
      assertThat(log).isNotBlank();
      for (String secret : secrets) {
        assertThat(log.lines().filter(line -> line.contains(secret)).limit(1))
            .as("lines in the log of " + process)
            .isEmpty();
      }
    }
  }

  private static long missesOfTheRegistry(JavaProcess process) throws IOException {
    try (Stream<String> lines = Files.lines(process.log())) {
      return lines.filter(line -> line.contains("Request execution failed")).count();
    }
  }
}
