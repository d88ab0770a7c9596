package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Redis stands still for three leases, and goes on as if nothing had been. */
@Tag("full")
class RedisPauseIT {

  private static final Duration PAUSE = Duration.ofSeconds(30);

  @Test
  void nobodyIsRobbedOfHisJobsWhenEveryLeaseLooksExpired() throws Exception {
    Workload load = Workload.of("paused");
    Submitter submitter = load.submitter();
    try (RedisServer redis = RedisServer.startTemporary();
        JavaProcess one = PROGRAMS.scheduler(REGISTRY, redis.port(), load.application()).start();
        JavaProcess two = PROGRAMS.scheduler(REGISTRY, redis.port(), load.application()).start();
        JavaProcess worker = load.worker(REGISTRY).start();
        JavaProcess late = load.worker(REGISTRY)) {
      one.awaitReady();
      two.awaitReady();
      worker.awaitReady();
      submitter.submit(one, "held-", 40, "sleep 40000", System.currentTimeMillis(), 0);
      Waiting.until("they are under way", () -> load.underWay().size() == 40);
      try (Load steady = SchedulerDeathIT.load(load, List.of(one, two), "record").start(30)) {
        Waiting.until("the load runs", () -> load.begun("load-").size() > 60);

        load.fault(
            "Redis stands still",
            () -> {
              redis.suspend();
              long refused = System.nanoTime();
              assertThat(submitter.submitOne(one, "refused", "record", 0)).isFalse();
              assertThat(Duration.ofNanos(System.nanoTime() - refused))
                  .isLessThan(Duration.ofSeconds(10));
              // Threads that wait for Redis hold up no view of the registry.
              late.start();
              for (JavaProcess scheduler : List.of(one, two)) {
                Waiting.until("it is seen", () -> seen(scheduler, load) == 2);
              }
              // This is the fault itself, and no wait for anything.
              LockSupport.parkNanos(PAUSE.toNanos() - (System.nanoTime() - refused));
              redis.resume();
            });

        int then = steady.sent();
        long resumed = System.nanoTime();
        int begun = load.begun("load-").size();
        Waiting.until("deliveries go on", OutageIT.SOON, () -> load.begun("load-").size() > begun);
        System.out.printf(
            "deliveries went on %d ms after a pause of %s%n",
            Duration.ofNanos(System.nanoTime() - resumed).toMillis(), PAUSE);
        Waiting.until("and submits", () -> load.begun("load-").size() > then + 100);
      }
      load.awaitDrained(one);
      Accounting accounting = load.account();
      assertThat(accounting.repeated()).noneMatch(id -> id.startsWith("held-"));
    }
  }

  private static int seen(JavaProcess scheduler, Workload load) throws IOException {
    return Http.get(scheduler.url() + "/api/v1/workers?application=" + load.application())
        .json()
        .get("items")
        .size();
  }
}
