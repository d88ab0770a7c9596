package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Redis or the registry goes away for a while. */
@Tag("full")
class OutageIT {

  /** After Redis is back; it takes a tenth of a second on a machine that does nothing else. */
  static final Duration SOON = Duration.ofSeconds(5);

  @ParameterizedTest
  @CsvSource({"everysec, redis", "always, synced"})
  void nothingIsLostWhenRedisIsKilledAndStartedAgain(String fsync, String durability)
      throws Exception {
    Workload load = Workload.of("redis-restart");
    Submitter submitter = load.submitter();
    try (RedisServer redis = RedisServer.startTemporary("--appendfsync", fsync);
        JavaProcess scheduler =
            PROGRAMS
                .scheduler(
                    SharedSystem.REGISTRY,
                    redis.port(),
                    load.application(),
                    "--punctual.durability=" + durability)
                .start();
        JavaProcess worker = load.worker(SharedSystem.REGISTRY).start()) {
      scheduler.awaitReady();
      worker.awaitReady();
      submitter.submit(scheduler, "job-", 1000, "sleep 20", System.currentTimeMillis() + 1000, 6);
      Waiting.until("some of them began", () -> load.begun("job-").size() > 200);

      load.fault(
          "Redis is killed and started again",
          () -> {
            redis.kill();
            assertThat(submitter.submitOne(scheduler, "refused", "record", 0)).isFalse();
            redis.start();
          });

      long back = System.nanoTime();
      int begun = load.begun("job-").size();
      // All jobs have begun already if this process stalled before the kill.
      Waiting.until(
          "the scanner goes on",
          SOON,
          () -> load.begun("job-").size() > begun || load.begun("job-").size() == 1000);
      System.out.printf(
          "deliveries went on %d ms after Redis answered again (%s)%n",
          Duration.ofNanos(System.nanoTime() - back).toMillis(), fsync);
      Waiting.until("all are begun", () -> load.begun("job-").size() == 1000);
      load.awaitDrained(scheduler);
      // The same submit again, now that there is a store: its answer is the clear one.
      assertThat(submitter.submitOne(scheduler, "refused", "record", 0)).isTrue();
      Waiting.until("what was refused has run", () -> load.begun("refused").size() == 1);
      load.awaitDrained(scheduler);
      Accounting accounting = load.account();
      assertThat(accounting.accepted()).isEqualTo(1001);
    }
  }

  @Test
  void deliveriesAndSubmitsGoOnWhileTheRegistryIsDown() throws Exception {
    Workload load = Workload.of("no-registry");
    try (JavaProcess registry = PROGRAMS.registry().start().awaitReady();
        JavaProcess scheduler =
            PROGRAMS.scheduler(registry, SharedSystem.REDIS.port(), load.application()).start();
        JavaProcess worker = load.worker(registry).start()) {
      scheduler.awaitReady();
      worker.awaitReady();
      try (Load _ = SchedulerDeathIT.load(load, List.of(scheduler), "record").start(50)) {
        Waiting.until("jobs run", () -> load.begun("").size() > 50);

        registry.kill();
        Waiting.until(
            "the scheduler has noticed",
            () -> Files.readString(scheduler.log()).contains("unable to send heartbeat"));
        load.awaitLaterBegun(200);
        Waiting.until(
            "the health tells of it",
            () ->
                Http.get(scheduler.url() + "/actuator/health")
                    .json()
                    .at("/components/registry/status")
                    .asString("")
                    .equals("WARNING"));
        assertThat(Http.get(scheduler.url() + "/actuator/health/readiness").status())
            .isEqualTo(200);
        assertThat(Http.get(scheduler.url() + "/actuator/health/liveness").status()).isEqualTo(200);

        registry.start().awaitReady();
        load.awaitLaterBegun(200);
      }
      load.awaitDrained(scheduler);
      Accounting accounting = load.account();
      assertThat(accounting.unknown()).isZero();
      assertThat(accounting.repeated()).isEmpty();
    }
  }
}
