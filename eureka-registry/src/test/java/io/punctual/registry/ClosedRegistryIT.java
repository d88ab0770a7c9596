package io.punctual.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The registry as it starts by itself: closed. */
@ExtendWith(OutputCaptureExtension.class)
class ClosedRegistryIT {

  private static final String RIGHT = "punctual:" + Registry.PASSWORD;

  private static Registry registry;
  private static int lastPart = 2;

  @BeforeAll
  static void start() {
    registry = Registry.start("--punctual.registry.password=" + Registry.PASSWORD);
  }

  @AfterAll
  static void stop() {
    registry.close();
  }

  /** Each test from an address of its own, as wrong passwords have consequences for theirs. */
  @BeforeEach
  void callFromANewAddress() {
    registry.callFrom("127.0.0." + lastPart++);
  }

  static Stream<@Nullable String> wrong() {
    return Stream.of(
        null,
        "",
        ":",
        "punctual",
        "punctual:",
        "punctual:" + Registry.PASSWORD + "x",
        "punctual:" + Registry.PASSWORD.substring(1),
        "punctual:" + Registry.PASSWORD.toLowerCase(java.util.Locale.ROOT),
        "admin:" + Registry.PASSWORD,
        ":" + Registry.PASSWORD);
  }

  @ParameterizedTest
  @MethodSource("wrong")
  void nobodyWithoutThePasswordReadsOrWrites(@Nullable String credentials) throws Exception {
    for (String path :
        Arrays.asList(
            "/",
            "/lastn",
            "/error",
            "/eureka/apps",
            "/eureka/apps/",
            "/eureka/apps/delta",
            "/eureka/apps/ORDER-SERVICE",
            "/eureka/instances/x",
            "/eureka/vips/x",
            "/eureka/status",
            "/eureka/css/wro.css",
            "/nothing")) {
      HttpResponse<String> answer = registry.get(path, credentials);
      assertThat(answer.statusCode()).as(path).isEqualTo(401);
      assertThat(answer.headers().firstValue("WWW-Authenticate"))
          .hasValue("Basic realm=\"punctual-registry\", charset=\"UTF-8\"");
      assertThat(answer.body()).doesNotContain("application", "instance");
    }

    assertThat(registry.register("FAKE", credentials).statusCode()).isEqualTo(401);
    // As a peer would say it.
    assertThat(
            registry
                .register("FAKE", credentials, "x-netflix-discovery-replication", "true")
                .statusCode())
        .isEqualTo(401);
    assertThat(
            registry
                .post(
                    "/eureka/peerreplication/batch/",
                    credentials,
                    "application/json",
                    "{\"replicationList\":[]}")
                .statusCode())
        .isEqualTo(401);
    for (String path :
        Arrays.asList(
            "/eureka/apps/FAKE/FAKE:1",
            "/eureka/apps/FAKE/FAKE:1/status?value=DOWN",
            "/eureka/apps/FAKE/FAKE:1/metadata?a=b")) {
      for (String method : Arrays.asList("PUT", "DELETE")) {
        assertThat(
                registry
                    .send(
                        registry.request(path, credentials).method(method, BodyPublishers.noBody()))
                    .statusCode())
            .as(method + " " + path)
            .isEqualTo(401);
      }
    }
    assertThat(registry.get("/eureka/apps/FAKE", RIGHT).statusCode()).isEqualTo(404);
  }

  @Test
  void whoHasThePasswordRegistersReadsAndLeaves() throws Exception {
    assertThat(registry.register("SHOP", RIGHT).statusCode()).isEqualTo(204);

    assertThat(registry.get("/eureka/apps/SHOP", RIGHT).body()).contains("\"SHOP:1\"");
    assertThat(registry.get("/eureka/apps/", RIGHT).body()).contains("\"SHOP:1\"");
    assertThat(
            registry
                .send(
                    registry
                        .request("/eureka/apps/SHOP/SHOP:1", RIGHT)
                        .PUT(BodyPublishers.noBody()))
                .statusCode())
        .isEqualTo(200);
    assertThat(
            registry
                .send(registry.request("/eureka/apps/SHOP/SHOP:1", RIGHT).DELETE())
                .statusCode())
        .isEqualTo(200);
    assertThat(registry.get("/eureka/apps/SHOP", RIGHT).statusCode()).isEqualTo(404);
  }

  @Test
  void guessesAreSlowedDown() throws Exception {
    int refused = 0;
    for (int i = 0; i < 120; i++) {
      if (registry.get("/eureka/apps", RIGHT + i).statusCode() == 429) {
        refused++;
      }
    }
    assertThat(refused).isEqualTo(115);
    HttpResponse<String> answer = registry.get("/eureka/apps", RIGHT);
    assertThat(answer.statusCode()).isEqualTo(429);
    assertThat(answer.headers().firstValueAsLong("Retry-After").orElseThrow()).isBetween(1L, 60L);
    assertThat(answer.body()).contains("Try again in");

    callFromANewAddress();
    assertThat(registry.get("/eureka/apps", RIGHT).statusCode()).isEqualTo(200);
  }

  @Test
  void whoHasThePasswordSeesTheDashboard() throws Exception {
    HttpResponse<String> answer = registry.get("/", RIGHT);

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).contains("Eureka").doesNotContain(Registry.PASSWORD);
  }

  @Test
  void answersHaveSecurityHeadersAndNoSession() throws Exception {
    for (String path : Arrays.asList("/", "/eureka/apps", "/actuator/health")) {
      Map<String, String> expected =
          Map.of(
              "X-Content-Type-Options", "nosniff",
              "X-Frame-Options", "DENY",
              "Content-Security-Policy",
                  "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'self';"
                      + " form-action 'self'; frame-ancestors 'none'",
              "Cache-Control", "no-cache, no-store, max-age=0, must-revalidate");
      HttpResponse<String> answer = registry.get(path, RIGHT);
      expected.forEach(
          (name, value) -> assertThat(answer.headers().firstValue(name)).hasValue(value));
      assertThat(answer.headers().firstValue("Set-Cookie")).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/actuator/health",
        "/actuator/health/liveness",
        "/actuator/health/readiness",
      })
  void healthIsOpenAndSaysNoMoreThanThat(String path) throws Exception {
    HttpResponse<String> answer = registry.get(path, null);

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).contains("\"UP\"").doesNotContain("details", "components");
  }

  @ParameterizedTest
  @CsvSource({
    "/actuator",
    "/actuator/env",
    "/actuator/heapdump",
    "/actuator/loggers",
    "/actuator/beans",
    "/actuator/configprops",
    "/actuator/metrics",
    "/actuator/prometheus",
    "/actuator/shutdown",
    "/actuator/refresh",
    "/actuator/gateway",
    "/actuator/threaddump",
    "/actuator/mappings",
  })
  void noOtherActuatorIsThere(String path) throws Exception {
    assertThat(registry.get(path, null).statusCode()).isEqualTo(401);
    assertThat(registry.post(path, null, "application/json", "{}").statusCode()).isIn(401, 403);
    if (!path.equals("/actuator")) {
      assertThat(registry.get(path, RIGHT).statusCode()).isEqualTo(404);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/actuator/health/..;/env",
        "/actuator/health/%2e%2e/%2e%2e/eureka/apps",
        "/actuator/health/;/../../eureka/apps",
        "//eureka/apps",
        "/eureka;x=y/apps",
        "/eureka/apps%00",
        "/actuator/health%2f..%2f..%2feureka%2fapps",
      })
  void aTwistedPathDoesNotLeadPastThePassword(String path) throws Exception {
    assertThat(registry.get(path, null).statusCode()).isIn(400, 401);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x"
      })
  void whatAForeignPageCanSendInAUsersNameRegistersNothing(String type) throws Exception {
    assertThat(registry.post("/eureka/apps/FAKE", RIGHT, type, "{\"instance\":{}}").statusCode())
        .isEqualTo(415);
    assertThat(registry.post("/", RIGHT, type, "a=b").statusCode()).isIn(401, 403);
    assertThat(registry.get("/eureka/apps/FAKE", RIGHT).statusCode()).isEqualTo(404);
  }

  @Test
  void thePasswordIsNotInTheLog(CapturedOutput output) throws Exception {
    registry.get("/eureka/apps", RIGHT);
    registry.get("/eureka/apps", RIGHT + "x");

    assertThat(output.getAll()).doesNotContain(Registry.PASSWORD);
  }

  @Test
  void thePasswordIsNotInTheSettingsAsText() {
    assertThat(new RegistryProperties(Registry.PASSWORD).toString())
        .doesNotContain(Registry.PASSWORD);
  }
}
