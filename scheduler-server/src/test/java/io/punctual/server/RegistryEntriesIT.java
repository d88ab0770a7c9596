package io.punctual.server;

import static com.github.tomakehurst.wiremock.client.WireMock.any;
import static com.github.tomakehurst.wiremock.client.WireMock.anyUrl;
import static com.github.tomakehurst.wiremock.client.WireMock.ok;
import static com.github.tomakehurst.wiremock.core.WireMockConfiguration.wireMockConfig;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.tomakehurst.wiremock.WireMockServer;
import com.github.tomakehurst.wiremock.verification.LoggedRequest;
import io.punctual.redis.Ports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.cloud.client.DefaultServiceInstance;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.context.annotation.Bean;
import tools.jackson.databind.JsonNode;

/** What somebody writes into the registry is that one's trouble and nobody else's. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {"eureka.client.enabled=false", SharedRedisTestBase.ALONE + "=RegistryEntriesIT"})
@Tag("full")
class RegistryEntriesIT extends SharedRedisTestBase {

  private static final Map<String, List<ServiceInstance>> ENTRIES = new ConcurrentHashMap<>();
  private static final WireMockServer WORKER =
      new WireMockServer(wireMockConfig().dynamicPort().bindAddress("127.0.0.1"));
  private static final AtomicInteger THROWN = new AtomicInteger();
  private static volatile boolean broken;

  @TestConfiguration(proxyBeanMethods = false)
  static class Registry {

    @Bean
    DiscoveryClient entries() {
      return new DiscoveryClient() {
        @Override
        public String description() {
          return "of a test";
        }

        @Override
        public List<ServiceInstance> getInstances(String application) {
          return ENTRIES.getOrDefault(application, List.of());
        }

        @Override
        public List<String> getServices() {
          if (broken) {
            THROWN.incrementAndGet();
            throw new StackOverflowError("of a test");
          }
          return List.copyOf(ENTRIES.keySet());
        }
      };
    }
  }

  @BeforeAll
  static void work() {
    WORKER.start();
    WORKER.stubFor(any(anyUrl()).willReturn(ok().withHeader("Allow", "POST")));
  }

  @AfterAll
  static void stop() {
    WORKER.stop();
  }

  private static ServiceInstance instance(String application, String id, String host, String path) {
    return instance(application, id, host, WORKER.port(), path);
  }

  private static ServiceInstance instance(
      String application, String id, String host, int port, String path) {
    return new DefaultServiceInstance(
        id,
        application,
        host,
        port,
        false,
        Map.of(
            "punctual.task-types",
            "t",
            "punctual.protocol",
            "single",
            "punctual.callback-path",
            path));
  }

  private static ConditionFactory within() {
    return Awaitility.await().atMost(Duration.ofSeconds(30));
  }

  private List<String> listed(String application) {
    List<String> ids = new ArrayList<>();
    for (JsonNode item :
        api.get("/api/v1/workers?application=" + application).body().get("items")) {
      if (!item.get("probe").isNull()) {
        ids.add(item.get("instance").asString());
      }
    }
    return ids;
  }

  private String problems(String application) {
    return api.get("/api/v1/doctor?application=" + application).body().toString();
  }

  private void submit(String application, String id) {
    String job =
        "{\"application\":\"%s\",\"taskType\":\"t\",\"taskId\":\"%s\",\"delay\":0}"
            .formatted(application, id);
    assertThat(api.post("/api/v1/jobs", job).status()).isEqualTo(201);
  }

  private static List<String> jobsAt(String path) {
    return WORKER.getAllServeEvents().stream()
        .map(event -> event.getRequest())
        .filter(request -> request.getMethod().getName().equals("POST"))
        .map(LoggedRequest::getUrl)
        .filter(url -> url.contains(path))
        .toList();
  }

  @Test
  void anEntryThatCannotBeReadHidesNoOtherApplication() {
    ENTRIES.put("stock", List.of(instance("stock", "stock:old", "127.0.0.1", "/stock-old")));
    submit("stock", "first");
    within().untilAsserted(() -> assertThat(jobsAt("/stock-old")).isNotEmpty());

    ENTRIES.put(
        "poison", List.of(instance("poison", "poison:1", "127.0.0.1", "/a".repeat(20_000))));
    submit("poison", "any");
    within().untilAsserted(() -> assertThat(problems("poison")).contains("poison:1", "path"));
    ENTRIES.put("stock", List.of(instance("stock", "stock:new", "127.0.0.1", "/stock-new")));

    within().untilAsserted(() -> assertThat(listed("stock")).containsExactly("stock:new"));
    // The doctor may have seen it before those who send jobs.
    AtomicInteger jobs = new AtomicInteger();
    within()
        .untilAsserted(
            () -> {
              submit("stock", "later" + jobs.incrementAndGet());
              assertThat(jobsAt("/stock-new")).isNotEmpty();
            });
    assertThat(listed("poison")).isEmpty();
  }

  @Test
  void theDoctorListsTwentyBadInstancesOfEachApplication() throws IOException {
    int closed = Ports.free();
    ENTRIES.put("crowd", entries(25, i -> instance("crowd", "crowd-" + i, "127.0.0.1", "/a b")));
    ENTRIES.put("gone", entries(25, i -> instance("gone", "gone-" + i, "127.0.0.1", closed, "/x")));
    ENTRIES.put("few", entries(2, i -> instance("few", "few-" + i, "127.0.0.1", "/a b")));

    // That of an application which stands behind the others is not hidden by them.
    within()
        .untilAsserted(
            () -> {
              JsonNode checks = api.get("/api/v1/doctor").body().get("checks");
              assertThat(instancesIn(checks, "crowd")).isEqualTo(20);
              assertThat(instancesIn(checks, "gone")).isEqualTo(20);
              assertThat(instancesIn(checks, "few")).isEqualTo(2);
            });
  }

  private static long instancesIn(JsonNode checks, String application) {
    return checks
        .valueStream()
        .filter(check -> check.get("name").asString().equals("worker"))
        .filter(check -> check.get("application").asString("").equals(application))
        .count();
  }

  private static List<ServiceInstance> entries(int count, IntFunction<ServiceInstance> entry) {
    return IntStream.range(0, count).mapToObj(entry).toList();
  }

  @Test
  void aProbeByHandThatDoesNotEndIsAnsweredWithoutAnOldResult() throws IOException {
    // Connections come about, and nothing is answered: five seconds each, two at once.
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      ENTRIES.put(
          "silent",
          entries(
              8, i -> instance("silent", "silent-" + i, "127.0.0.1", silent.getLocalPort(), "/x")));
      within()
          .until(
              () -> api.get("/api/v1/workers?application=silent").body().get("items").size() == 8);
      List<CompletableFuture<ApiClient.Answer>> probes =
          IntStream.range(0, 8)
              .mapToObj(
                  i ->
                      CompletableFuture.supplyAsync(
                          () ->
                              api.post(
                                  "/api/v1/workers:probe",
                                  "{\"application\":\"silent\",\"instance\":\"silent-" + i + "\"}"),
                          callers))
              .toList();
      List<ApiClient.Answer> answers = probes.stream().map(CompletableFuture::join).toList();

      assertThat(answers).extracting(ApiClient.Answer::status).containsOnly(200, 503);
      for (ApiClient.Answer answer : answers) {
        if (answer.status() == 200) {
          assertThat(answer.at("/probe/code")).isEqualTo("no-answer");
        } else {
          assertThat(answer.at("/code")).isEqualTo("unavailable");
          assertThat(answer.header("Retry-After")).isEqualTo("5");
          assertThat(answer.at("/detail"))
              .contains("other probes of silent are under way", "GET /api/v1/workers");
        }
      }
    } finally {
      ENTRIES.remove("silent");
    }
  }

  @Test
  void theDoctorLivesOnWhateverIsThrown() {
    THROWN.set(0);
    broken = true;
    try {
      within().until(() -> THROWN.get() >= 3);
    } finally {
      broken = false;
    }
    ENTRIES.put("later", List.of(instance("later", "later:1", "127.0.0.1", "/later")));
    within().untilAsserted(() -> assertThat(listed("later")).containsExactly("later:1"));
  }

  @Test
  void aHostThatBringsItsOwnPathIsNotCalled() {
    List<String> hosts =
        List.of(
            "[::ffff:127.0.0.1]:" + WORKER.port() + "/evil/../admin?q=",
            "127.0.0.1:" + WORKER.port() + "/evil?x=",
            "127.0.0.1:" + WORKER.port() + "#evil",
            "evil@127.0.0.1:" + WORKER.port() + "/evil?");
    List<ServiceInstance> entries = new ArrayList<>();
    hosts.forEach(host -> entries.add(instance("ssrf", "evil-" + entries.size(), host, "/evil")));
    ENTRIES.put("ssrf", entries);
    submit("ssrf", "secret");

    within()
        .untilAsserted(
            () ->
                assertThat(problems("ssrf"))
                    .contains("evil-0", "evil-1", "evil-2", "evil-3", "its host must be"));
    assertThat(listed("ssrf")).isEmpty();
    assertThat(WORKER.getAllServeEvents())
        .noneMatch(event -> event.getRequest().getUrl().contains("evil"));
    assertThat(WORKER.getAllServeEvents())
        .noneMatch(event -> event.getRequest().getUrl().contains("admin"));
  }
}
