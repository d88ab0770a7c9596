package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.guide.first.FirstShop;
import io.punctual.systemtest.reactive.ReactiveShop;
import java.nio.file.Files;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Applications that are not as the quickstart has them: without Spring MVC, without Eureka. */
@Tag("full")
class CitizenshipIT {

  private static final String PULL = "--punctual.delivery=pull";
  private static JavaProcess scheduler;

  @BeforeAll
  static void start() {
    scheduler = PROGRAMS.scheduler(REGISTRY, REDIS.port(), "citizenship").start().awaitReady();
  }

  @AfterAll
  static void stop() {
    scheduler.close();
  }

  @Test
  void aWebFluxApplicationSendsAndPullsItsJobs() throws Exception {
    try (JavaProcess shop = reactive("reactive-pull", PULL)) {
      shop.awaitReady();
      assertThat(Http.post(shop.url() + "/orders/1001", "").body()).isEqualTo("CREATED");

      Waiting.until(
          "the order is closed", () -> Files.readString(shop.log()).contains("closing 1001"));
      assertThat(Files.readString(shop.log()))
          .contains("Netty started")
          .contains("pulls [order.close] from [" + scheduler.url() + "]")
          .doesNotContain("DO NOT RUN");
    }
  }

  @Test
  void aWebFluxApplicationIsCalled() throws Exception {
    try (JavaProcess shop = reactive("reactive-push", "--punctual.callback.accept-unsigned=true")) {
      shop.awaitReady();
      assertThat(Http.post(shop.url() + "/orders/1002", "").body()).isEqualTo("CREATED");

      Waiting.until(
          "the order is closed", () -> Files.readString(shop.log()).contains("closing 1002"));
      assertThat(Files.readString(shop.log()))
          .contains("Netty started")
          .doesNotContain("DO NOT RUN");
    }
  }

  @Test
  void anyDiscoveryClientFindsTheSchedulers() throws Exception {
    try (JavaProcess shop =
        PROGRAMS
            .application(
                FirstShop.class,
                Programs.discovered(scheduler),
                "--spring.application.name=discovering",
                PULL)
            .start()) {
      Waiting.until(
          "the order is closed", () -> Files.readString(shop.log()).contains("closing 1001"));
    }
  }

  private static JavaProcess reactive(String application, String... options) {
    String[] all = new String[options.length + 1];
    all[0] = "--spring.application.name=" + application;
    System.arraycopy(options, 0, all, 1, options.length);
    return PROGRAMS.reactiveApplication(scheduler, ReactiveShop.class, all).start();
  }
}
