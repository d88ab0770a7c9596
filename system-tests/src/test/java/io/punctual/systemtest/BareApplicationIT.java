package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.guide.bare.BareShop;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The ten lines of docs/starter.md in a bare application, beside a registry and a scheduler. */
class BareApplicationIT {

  @Test
  void aTypedJobComesBackToTheApplicationThatSentIt() throws Exception {
    Workload bare = Workload.of("bare");
    try (JavaProcess scheduler = PROGRAMS.scheduler(REGISTRY, REDIS.port(), "bare").start()) {
      scheduler.awaitReady();
      Waiting.until("the registry shows the scheduler", () -> isRegistered(scheduler));
      try (JavaProcess shop =
          PROGRAMS
              .application(
                  REGISTRY,
                  BareShop.class,
                  "--spring.application.name=" + bare.application(),
                  "--punctual.client.callback.accept-unsigned=true")
              .start()) {
        Waiting.until(
            "the order is closed", () -> Files.readString(shop.log()).contains("closing 1001"));
        assertThat(Files.readString(shop.log())).contains("runs [order.close]");
      }
    }
  }

  private static boolean isRegistered(JavaProcess scheduler) throws Exception {
    for (JsonNode check : Http.get(scheduler.url() + "/api/v1/doctor").json().get("checks")) {
      if (check.get("name").asString().equals("registration")) {
        return check.get("status").asString().equals("ok");
      }
    }
    return false;
  }
}
