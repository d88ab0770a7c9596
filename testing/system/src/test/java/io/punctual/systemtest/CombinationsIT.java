package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** The same shop in all cells of the table in docs/choose.md. */
@Tag("full")
@Tag("variant")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CombinationsIT {

  private static final String PREFIX = "combinations";
  private static final String SIGNING_KEY = "a secret of schedulers that is long enough";

  // A row starts together: so the processors wait for no program.
  private final Map<Combination, JavaProcess> started = new LinkedHashMap<>();
  private final JavaProcess eureka = PROGRAMS.registry();
  private final JavaProcess zookeeper = PROGRAMS.zookeeper();
  private JavaProcess scheduler;
  private ZooKeeper entries;
  private Shops shops;

  static Stream<Combination> all() {
    return Combination.all();
  }

  @BeforeAll
  void start() throws IOException {
    eureka.start();
    zookeeper.start().awaitPort();
    entries = new ZooKeeper(zookeeper.address(), 60_000, event -> {});
    eureka.awaitReady();
    List<String> options =
        Stream.concat(
                Programs.zookeeper(zookeeper).stream(),
                Stream.of(
                    "--spring.cloud.zookeeper.enabled=true",
                    "--punctual.security.signing-keys=" + SIGNING_KEY))
            .toList();
    scheduler =
        PROGRAMS
            .scheduler(eureka, REDIS.port(), PREFIX, options.toArray(String[]::new))
            .start()
            .awaitReady();
    Waiting.until(
        "both registries have the scheduler",
        () ->
            !entryIn(Combination.Registry.EUREKA, "punctual-scheduler").isEmpty()
                && !entryIn(Combination.Registry.ZOOKEEPER, "punctual-scheduler").isEmpty());
    shops = new Shops(eureka, zookeeper, scheduler, PREFIX, SIGNING_KEY);
  }

  @AfterAll
  void stop() throws InterruptedException {
    started.values().forEach(JavaProcess::close);
    if (scheduler != null) {
      scheduler.close();
    }
    if (entries != null) {
      entries.close();
    }
    zookeeper.close();
    eureka.close();
  }

  @ParameterizedTest
  @MethodSource("all")
  void theShopRunsTheJobThatItSendsOnceAndLeaves(Combination it) throws Exception {
    String application = it.application();
    try (JavaProcess shop = started(it)) {
      shop.awaitPort();
      if (it.platform() == Combination.Platform.KOTLIN) {
        assertThat(Http.put(shop.url() + "/orders/1001/0", "").body()).isEqualTo("CREATED");
      }
      String closed = it.platform() == Combination.Platform.KOTLIN ? "closed 1001" : "closing 1001";
      shop.awaitLog(closed);
      String jobs = scheduler.url() + "/api/v1/queues/" + application + "/order.close";
      Waiting.until(
          "the job is done", () -> Http.get(jobs).json().at("/counters/done").intValue() == 1);
      JsonNode queue = Http.get(jobs).json();
      assertThat(queue.get("delayed").intValue()).isZero();
      assertThat(queue.get("dead").intValue()).isZero();

      if (isRegistered(it)) {
        Waiting.until("the registry has it", () -> !entryIn(it.registry(), application).isEmpty());
        if (it.way() != Combination.Way.PUSH) {
          assertThat(entryIn(it.registry(), application)).isNotEmpty().doesNotContain("punctual");
        }
      }
      assertThat(sources(application)).isEqualTo(expectedSources(it));

      shop.terminate();
      Waiting.until("the scheduler knows it no more", () -> sources(application).isEmpty());
      if (isRegistered(it)) {
        Waiting.until(
            "the registry forgets it", () -> entryIn(it.registry(), application).isEmpty());
      }
      assertThat(Files.readString(shop.log()).split(closed, -1)).as("begun once").hasSize(2);
    }
  }

  @Test
  void inPluginModeOnSpringBoot40TheStartSaysWhichLibrariesAreTooOld() {
    try (JavaProcess shop = shops.pluginWithOlderLibraries().start()) {
      shop.awaitLog("APPLICATION FAILED TO START");
      shop.awaitLog("Plugin mode needs Spring Data Redis 4.1; this application has 4.0.");
      shop.awaitLog("spring-data-bom.version=2026.0.0, jedis.version=7.4.1 and");
    }
  }

  private JavaProcess started(Combination it) {
    if (!started.containsKey(it)) {
      all()
          .filter(other -> other.row().equals(it.row()))
          .forEach(other -> started.put(other, shops.shop(other).start()));
    }
    return started.remove(it);
  }

  private static boolean isRegistered(Combination it) {
    return it.registry() == Combination.Registry.EUREKA
        || (it.registry() == Combination.Registry.ZOOKEEPER
            && it.platform() != Combination.Platform.PLAIN_JAVA);
  }

  private static Set<String> expectedSources(Combination it) {
    if (it.way() != Combination.Way.PUSH) {
      return Set.of();
    }
    return Set.of(
        isRegistered(it) ? it.registry().toString().toLowerCase(Locale.ROOT) : "scheduler");
  }

  private Set<String> sources(String application) throws IOException {
    Set<String> sources = new TreeSet<>();
    Http.get(scheduler.url() + "/api/v1/workers?application=" + application)
        .json()
        .get("items")
        .forEach(worker -> sources.add(worker.get("source").asString()));
    return sources;
  }

  /** What the registry has of an application; empty for nothing. */
  private String entryIn(Combination.Registry registry, String application) throws Exception {
    if (registry == Combination.Registry.EUREKA) {
      Http.Answer answer = Http.get(eureka.url() + "/eureka/apps/" + application);
      return answer.status() == 200 ? answer.body() : "";
    }
    String path = "/services/" + application;
    try {
      StringBuilder all = new StringBuilder();
      for (String id : entries.getChildren(path, false)) {
        all.append(
            new String(entries.getData(path + "/" + id, false, null), StandardCharsets.UTF_8));
      }
      return all.toString();
    } catch (KeeperException.NoNodeException e) {
      return "";
    }
  }
}
