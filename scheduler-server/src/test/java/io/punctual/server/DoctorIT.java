package io.punctual.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.store.Store;
import io.punctual.core.store.durability.EpochMarker;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import tools.jackson.databind.JsonNode;

/** Everything that may be wrong, in one answer. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
    properties = {"eureka.client.enabled=false", SharedRedisTestBase.ALONE + "=DoctorIT"})
@Tag("full")
class DoctorIT extends SharedRedisTestBase {

  @DynamicPropertySource
  static void instances(DynamicPropertyRegistry registry) {
    instance(registry, "typo", 0, 1, "telepathy");
    // An address from which nobody answers, and which is never called.
    instance(registry, "parking", 0, 1, "batch");
    registry.add(
        "spring.cloud.discovery.client.simple.instances.parking[0].uri",
        () -> "http://169.254.1.1:8080");
  }

  /** Records which threads change the marks of the store. */
  @TestConfiguration
  static class WatchedMarks {

    static final Set<String> THREADS = ConcurrentHashMap.newKeySet();
    private static final Set<String> READS = Set.of("marks", "losses", "journal");

    @Bean
    static BeanPostProcessor watchMarks() {
      return new BeanPostProcessor() {
        @Override
        public Object postProcessAfterInitialization(Object bean, String name) {
          return bean instanceof Store store
              ? new Store(
                  store.jobs(),
                  store.queues(),
                  store.wakeUps(),
                  store.members(),
                  store.inspector(),
                  watched(store.epoch()),
                  store.calls(),
                  store.schedules(),
                  store.calendars())
              : bean;
        }
      };
    }

    private static EpochMarker watched(EpochMarker marks) {
      return (EpochMarker)
          Proxy.newProxyInstance(
              EpochMarker.class.getClassLoader(),
              new Class<?>[] {EpochMarker.class},
              (proxy, method, arguments) -> {
                if (!READS.contains(method.getName())) {
                  THREADS.add(Thread.currentThread().getName());
                }
                try {
                  return method.invoke(marks, arguments);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              });
    }
  }

  private JsonNode check(String query, String name) {
    JsonNode answer = api.get("/api/v1/doctor" + query).body();
    for (JsonNode check : answer.get("checks")) {
      if (check.get("name").asString().equals(name)) {
        return check;
      }
    }
    throw new AssertionError("no check " + name + " in " + answer);
  }

  private void submit(String application) {
    String job =
        "{\"application\":\""
            + application
            + "\",\"taskType\":\"order.close\",\"taskId\":\"a\",\"delay\":0}";
    assertThat(api.post("/api/v1/jobs", job).status()).isEqualTo(201);
  }

  @Test
  void whatAllHaveInCommonIsLookedAt() {
    assertThat(check("", "redis").get("message").asString()).contains("Redis");
    assertThat(check("", "durability").get("status").asString()).isEqualTo("ok");
    JsonNode clock = check("", "clock");
    assertThat(clock.get("status").asString()).isEqualTo("ok");
    assertThat(clock.get("message").asString()).contains(" ms ");
    assertThat(check("", "registry").get("message").asString()).contains("configuration");
    assertThat(clock.get("application").isNull()).isTrue();
  }

  @Test
  void aQuestionMovesNoMarkOfTheStore() {
    assertThat(api.get("/api/v1/doctor").status()).isEqualTo(200);
    assertThat(check("", "clock").get("message").asString()).contains(" ms ");

    Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> !WatchedMarks.THREADS.isEmpty());
    // The engine's own watch, and no thread that serves a request.
    assertThat(WatchedMarks.THREADS)
        .allSatisfy(thread -> assertThat(thread).startsWith("punctual-"));
  }

  @Test
  void metadataThatMakesNoSenseIsFoundOutWithoutAJob() {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(check("?application=typo", "worker").get("message").asString())
                    .contains("typo-0", "punctual.protocol", "telepathy"));
    assertThat(api.get("/api/v1/workers?application=typo").body().get("items")).isEmpty();
  }

  @Test
  void dueJobsThatNobodyRunsAreAProblemOfTheirApplication() {
    submit("nobody");
    submit("parking");

    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () -> {
              JsonNode unserved = check("?application=nobody", "unserved");
              assertThat(unserved.get("status").asString()).isEqualTo("problem");
              assertThat(unserved.get("message").asString()).contains("nobody", "order.close");
              assertThat(unserved.get("remedy").asString())
                  .contains("TaskWorker", "spring.application.name");
              assertThat(check("?application=parking", "parked").get("message").asString())
                  .contains("order.close");
            });
    JsonNode workers = check("?application=parking", "workers");
    assertThat(workers.get("status").asString()).isEqualTo("problem");
    assertThat(check("?application=parking", "worker").get("message").asString())
        .contains("parking-0", "address-not-allowed");
    assertThat(api.get("/api/v1/doctor").at("/status")).isEqualTo("problem");
    assertThat(check("?application=else", "queues").get("status").asString()).isEqualTo("ok");
    assertThat(api.get("/api/v1/doctor?application=a/b").status()).isEqualTo(400);
  }
}
