package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/**
 * Pullers that are stopped, and schedulers that are killed, while jobs fall due that may be tried
 * once. Queues have two buckets.
 */
@Tag("full")
class PullStopIT {

  private static final int JOBS = 4_000;
  private static final int STOPS = 4;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private static JavaProcess scheduler(String name) {
    return PROGRAMS.scheduler(
        REGISTRY, REDIS.port(), name, "--spring.application.name=" + name, "--punctual.buckets=2");
  }

  private static JavaProcess puller(Workload load, String schedulers) {
    return load.worker(
        REGISTRY,
        "--punctual.delivery=pull",
        "--worker.pull-lease=5s",
        "--punctual.concurrency=20",
        "--punctual.service-id=" + schedulers);
  }

  @Test
  void gracefulStopsOfPullersUnderLoadCostNoAttempt() throws Exception {
    Workload load = Workload.of("pull-stop");
    Submitter submitter = load.submitter();
    submitter.retry("never");
    Deque<JavaProcess> pullers = new ArrayDeque<>();
    try (JavaProcess scheduler = scheduler("pull-stop-scheduler").start().awaitReady()) {
      pullers.add(puller(load, "pull-stop-scheduler").start().awaitReady());
      for (int i = 0; i < STOPS; i++) {
        pullers.add(puller(load, "pull-stop-scheduler").start().awaitReady());
        long due = System.currentTimeMillis() + 500;
        submitter.submit(scheduler, "job-" + i + "-", JOBS / STOPS, "sleep 20", due, 8);
        // The puller stops while jobs fall due every few milliseconds.
        int before = load.executions().size();
        Waiting.until("some more were run", () -> load.executions().size() > before + 50);
        pullers.remove().terminate();
      }
      Waiting.until("all are done", PATIENCE, () -> count(submitter, scheduler, "done") == JOBS);
      assertThat(load.executions()).hasSize(JOBS);
      assertThat(load.account().repeated()).isEmpty();
      JsonNode queue = submitter.queue(scheduler);
      assertThat(queue.get("dead").intValue()).isZero();
      for (String lost : new String[] {"expired", "unknown", "failed", "dead"}) {
        assertThat(queue.get("counters").path(lost).asInt(0)).as(lost).isZero();
      }
    } finally {
      pullers.forEach(JavaProcess::close);
    }
  }

  @Test
  void aJobThatNoPullerHasSeenIsNoDeadLetterWhenItsSchedulerIsKilled() throws Exception {
    Workload load = Workload.of("pull-kill");
    Submitter submitter = load.submitter();
    submitter.retry("never");
    try (JavaProcess victim = scheduler("pull-kill-scheduler").start().awaitReady();
        JavaProcess survivor = scheduler("pull-kill-scheduler").start().awaitReady();
        JavaProcess one = puller(load, "pull-kill-scheduler").start().awaitReady();
        JavaProcess two = puller(load, "pull-kill-scheduler").start().awaitReady()) {
      submitter.submit(survivor, "job-", JOBS, "sleep 20", System.currentTimeMillis() + 500, 5);
      for (int i = 1; i <= 3; i++) {
        int enough = i * JOBS / 5;
        Waiting.until("they run", () -> load.executions().size() > enough);
        load.fault("the scheduler is killed", victim::kill);
        if (i == 2) {
          // Beside it, a puller in the midst of what it has fetched and what it waits for.
          one.terminate();
        }
        victim.start().awaitReady();
      }
      Waiting.until(
          "all have ended",
          PATIENCE,
          () -> {
            JsonNode queue = submitter.queue(survivor);
            return queue.get("delayed").intValue() == 0 && queue.get("reserved").intValue() == 0;
          });
      two.terminate();
      assertThat(load.begun("job-")).as("each job was run").hasSize(JOBS);
    }
  }

  private static int count(Submitter submitter, JavaProcess scheduler, String counter)
      throws Exception {
    return submitter.queue(scheduler).get("counters").path(counter).asInt(0);
  }
}
