package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.Ports;
import io.punctual.systemtest.worker.WorkerApplication;
import java.io.IOException;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** A registry that is not there, and one that does not tell the truth. */
class RegistryIT {

  @Test
  void jobsAreTakenWithoutARegistryAndRunOnceThereIsOne() throws Exception {
    Workload load = Workload.of("no-registry-yet");
    try (JavaProcess registry = PROGRAMS.registry();
        JavaProcess scheduler =
            PROGRAMS.scheduler(registry, REDIS.port(), load.application()).start();
        JavaProcess worker = load.worker(registry)) {
      scheduler.awaitReady();
      load.submitter().submit(scheduler, "job-", 50, "record", System.currentTimeMillis() + 200, 0);
      Waiting.until(
          "they are due, and there is nobody",
          () -> {
            JsonNode queue = load.submitter().queue(scheduler);
            return queue.get("ready").intValue() == 50 && queue.get("parked").booleanValue();
          });

      registry.start().awaitReady();
      worker.start().awaitReady();
      load.awaitDrained(scheduler);
      Accounting accounting = load.account();
      assertThat(accounting.accepted()).isEqualTo(50);
      assertThat(accounting.repeated()).isEmpty();
    }
  }

  @Test
  void entriesThatLieCostNoAttemptAndReachNobodyElse() throws Exception {
    Workload load = Workload.of("stale");
    Workload other = Workload.of("other");
    try (JavaProcess scheduler =
            PROGRAMS.scheduler(REGISTRY, REDIS.port(), load.application()).start();
        JavaProcess neighbour = other.worker(REGISTRY).start();
        JavaProcess real = load.worker(REGISTRY)) {
      scheduler.awaitReady();
      neighbour.awaitReady();
      register(load, "dead", Ports.free(), "UP", "batch");
      register(load, "another-application", neighbour.port(), "UP", "batch");
      register(load, "nonsense", neighbour.port(), "UP", "telepathy");
      register(load, "out", neighbour.port(), "OUT_OF_SERVICE", "batch");
      Submitter submitter = load.submitter();
      submitter.submit(scheduler, "job-", 30, "record", System.currentTimeMillis() + 200, 0);
      Waiting.until(
          "both addresses were tried",
          () -> {
            String problems = "";
            for (int i = 0; i < 30; i++) {
              problems += submitter.find(scheduler, "job-" + i).path("failures");
            }
            return problems.contains("421") && problems.contains("no connection");
          });
      for (int i = 0; i < 30; i++) {
        JsonNode attempts = submitter.find(scheduler, "job-" + i).get("attempts");
        assertThat(attempts.get("failed").intValue()).isZero();
        assertThat(attempts.get("unknown").intValue()).isZero();
        assertThat(attempts.get("counted").intValue()).isZero();
      }

      real.start().awaitReady();
      load.awaitDrained(scheduler);
      Accounting accounting = load.account();
      assertThat(accounting.accepted()).isEqualTo(30);
      assertThat(accounting.repeated()).isEmpty();
      assertThat(other.executions()).isEmpty();
    }
  }

  /** Writes an entry of the load's application by hand. */
  private static void register(Workload load, String id, int port, String status, String protocol)
      throws IOException {
    String app = load.application().toUpperCase(Locale.ROOT);
    String entry =
        """
        {"instance":{"instanceId":"%s","hostName":"127.0.0.1","app":"%s","ipAddr":"127.0.0.1",
        "vipAddress":"%s","secureVipAddress":"%s","status":"%s",
        "port":{"$":%d,"@enabled":"true"},"securePort":{"$":443,"@enabled":"false"},
        "dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo",
        "name":"MyOwn"},"leaseInfo":{"renewalIntervalInSecs":60,"durationInSecs":180},
        "metadata":{"punctual.task-types":"%s","punctual.protocol":"%s",
        "punctual.callback-path":"/punctual/callback","punctual.concurrency":"10"}}}"""
            .formatted(
                id,
                app,
                load.application(),
                load.application(),
                status,
                port,
                WorkerApplication.TYPE,
                protocol);
    assertThat(Http.post(REGISTRY.url() + "/eureka/apps/" + app, entry).status()).isEqualTo(204);
  }
}
