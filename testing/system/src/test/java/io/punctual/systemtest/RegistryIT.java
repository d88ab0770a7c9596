package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.Ports;
import io.punctual.systemtest.worker.WorkerApplication;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** A registry that is not there, and one that does not tell the truth. */
@Tag("full")
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
      register(entry(load, "dead", Ports.free()));
      register(entry(load, "another-application", neighbour.port()));
      register(entry(load, "nonsense", neighbour.port()).speaks("telepathy"));
      register(entry(load, "out", neighbour.port()).is("OUT_OF_SERVICE"));
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

  private static RegistryEntry entry(Workload load, String id, int port) {
    return RegistryEntry.of(load.application(), id, "127.0.0.1", port, WorkerApplication.TYPE);
  }

  private static void register(RegistryEntry entry) throws IOException {
    assertThat(Http.post(REGISTRY.url() + entry.path(), entry.json()).status()).isEqualTo(204);
  }
}
