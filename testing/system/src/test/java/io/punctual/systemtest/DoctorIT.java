package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.Ports;
import java.nio.file.Files;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** An application that schedulers do not reach reads so in its own log. */
@Tag("full")
class DoctorIT {

  @Test
  void anApplicationsOwnLogSaysWhatTheSchedulerSaw() throws Exception {
    Workload well = Workload.of("reached");
    Workload closed = Workload.of("closed-port");
    Workload others = Workload.of("others-port");
    int nobody = Ports.free();
    try (JavaProcess scheduler = PROGRAMS.scheduler(REGISTRY, REDIS.port(), "doctor").start();
        JavaProcess reached = well.worker(REGISTRY).start();
        JavaProcess refused =
            closed.worker(REGISTRY, "--eureka.instance.non-secure-port=" + nobody).start();
        // Somebody answers there, and knows nothing of callbacks.
        JavaProcess lost =
            others
                .worker(REGISTRY, "--eureka.instance.non-secure-port=" + scheduler.port())
                .start()) {
      scheduler.awaitReady();

      awaitLine(
          reached,
          "INFO",
          "Punctual: a scheduler reaches this instance at "
              + reached.url()
              + "/punctual/callback. A call got through, and its answer back");
      awaitLine(
          refused,
          "WARN",
          "Punctual: the scheduler CANNOT REACH this instance at http://127.0.0.1:"
              + nobody
              + "/punctual/callback, so it gets no jobs (connection-refused)");
      awaitLine(lost, "WARN", "so it gets no jobs (wrong-path)");
      assertThat(Files.readString(refused.log())).contains("eureka.instance.non-secure-port");
      assertThat(Files.readString(lost.log()))
          .contains(scheduler.url() + "/punctual/callback", "server.servlet.context-path");
      assertThat(Files.readString(reached.log())).doesNotContain("CANNOT REACH");

      JsonNode worker =
          Http.get(scheduler.url() + "/api/v1/workers?application=" + well.application())
              .json()
              .at("/items/0");
      assertThat(worker.at("/probe/code").asString()).isEqualTo("reached");
      assertThat(worker.at("/probe/version").asString()).isNotBlank();
      JsonNode doctor = Http.get(scheduler.url() + "/api/v1/doctor").json();
      assertThat(doctor.get("checks"))
          .anySatisfy(
              check -> {
                assertThat(check.get("application").asString("")).isEqualTo(closed.application());
                assertThat(check.get("name").asString()).isEqualTo("worker");
                assertThat(check.get("remedy").asString()).contains("eureka.instance.");
              });
      Waiting.until(
          "the registry shows the scheduler, and its view is fresh",
          () ->
              status(scheduler, "registry").equals("ok")
                  && status(scheduler, "registration").equals("ok"));
    }
  }

  @Test
  void schedulersThatShareNoJobsNoticeEachOther() throws Exception {
    try (JavaProcess one = PROGRAMS.scheduler(REGISTRY, REDIS.port(), "doctor-one").start();
        JavaProcess two = PROGRAMS.scheduler(REGISTRY, REDIS.port(), "doctor-two").start()) {
      one.awaitReady();
      two.awaitReady();

      Waiting.until("they see each other", () -> names(one, two) && names(two, one));
    }
  }

  private static boolean names(JavaProcess scheduler, JavaProcess other) throws Exception {
    for (JsonNode check : Http.get(scheduler.url() + "/api/v1/doctor").json().get("checks")) {
      if (check.get("name").asString().equals("installation")) {
        return check.get("status").asString().equals("warning")
            && check
                .get("message")
                .asString()
                .contains(":" + other.port() + " (key prefix doctor-");
      }
    }
    return false;
  }

  private static String status(JavaProcess scheduler, String name) throws Exception {
    for (JsonNode check : Http.get(scheduler.url() + "/api/v1/doctor").json().get("checks")) {
      if (check.get("name").asString().equals(name)) {
        return check.get("status").asString();
      }
    }
    throw new AssertionError("no check " + name);
  }

  private static void awaitLine(JavaProcess worker, String level, String text) {
    Waiting.until(
        "'" + text + "' is in " + worker.log(),
        () ->
            Files.readAllLines(worker.log()).stream()
                .anyMatch(line -> line.contains(text) && line.contains(level)));
  }
}
