package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Jobs that are cancelled while they run, by either of two schedulers. */
@Tag("full")
class InterruptIT {

  private static final String SCHEDULERS = "interrupt-scheduler";
  private static final int JOBS = 20;

  private static JavaProcess one;
  private static JavaProcess two;

  @BeforeAll
  static void start() {
    one = scheduler().start().awaitReady();
    two = scheduler().start().awaitReady();
  }

  @AfterAll
  static void stop() {
    one.close();
    two.close();
  }

  private static JavaProcess scheduler() {
    return PROGRAMS.scheduler(
        REGISTRY, REDIS.port(), SCHEDULERS, "--spring.application.name=" + SCHEDULERS);
  }

  @Test
  void whatWasPushedStopsWithinASecond() throws Exception {
    stopsWithinASecond(Workload.of("interrupt-push"));
  }

  @Test
  void whatWasPulledStopsWithinASecond() throws Exception {
    stopsWithinASecond(
        Workload.of("interrupt-pull"),
        "--punctual.delivery=pull",
        "--punctual.service-id=" + SCHEDULERS);
  }

  private static void stopsWithinASecond(Workload load, String... options) throws Exception {
    Submitter submitter = load.submitter();
    submitter.retry("never");
    try (JavaProcess worker = load.worker(REGISTRY, options).start().awaitReady()) {
      assertThat(worker.url()).isNotEmpty();
      submitter.submit(one, "job-", JOBS, "sleep 60000", System.currentTimeMillis(), 0);
      Waiting.until("they are under way", () -> load.underWay().size() == JOBS);

      Map<String, Long> asked = new HashMap<>();
      for (String id : load.underWay()) {
        asked.put(id, EpochMicros.now());
        Http.Answer answer = interrupt(asked.size() % 2 == 0 ? one : two, load, id);
        assertThat(answer.status()).as(answer.body()).isEqualTo(202);
        assertThat(answer.json().get("outcome").stringValue()).isEqualTo("cancelling");
        assertThat(answer.json().get("attempt").intValue()).isEqualTo(1);
      }
      Waiting.until("they have stopped", () -> load.underWay().isEmpty());

      assertThat(load.executions())
          .hasSize(JOBS)
          .allSatisfy(
              execution -> {
                assertThat(execution.done()).isFalse();
                assertThat(execution.end() - asked.get(execution.taskId())).isLessThan(3_000_000);
              });
      awaitCounter(submitter, "cancelled", JOBS);
      JsonNode queue = submitter.queue(one);
      assertThat(queue.get("reserved").intValue()).isZero();
      assertThat(queue.get("delayed").intValue()).isZero();
      assertThat(queue.get("dead").intValue()).isZero();
      assertThat(queue.get("counters").has("failed")).isFalse();
      String id = asked.keySet().iterator().next();
      assertThat(submitter.find(two, id).get("state").stringValue()).isEqualTo("cancelled");
      assertThat(interrupt(one, load, id).json().get("outcome").stringValue())
          .isEqualTo("cancelled");
    }
  }

  @Test
  void aWorkerThatFinishesAllTheSameIsDoneAndOneThatDiesLeavesNothingToRetry() throws Exception {
    Workload load = Workload.of("interrupt-deaf");
    Submitter submitter = load.submitter();
    try (JavaProcess worker = load.worker(REGISTRY).start().awaitReady()) {
      long now = System.currentTimeMillis();
      submitter.submit(one, "ends-", 1, "overrun 5000 1", now, 0);
      submitter.submit(one, "dies-", 1, "overrun 600000 1", now, 0);
      Waiting.until("they are under way", () -> load.underWay().size() == 2);
      String ends = load.begun("ends-").iterator().next();
      String dies = load.begun("dies-").iterator().next();
      assertThat(interrupt(one, load, ends).status()).isEqualTo(202);
      assertThat(interrupt(two, load, dies).status()).isEqualTo(202);

      awaitCounter(submitter, "done", 1);
      Http.Answer late = interrupt(two, load, ends);
      assertThat(late.status()).isEqualTo(409);
      assertThat(late.json().get("state").stringValue()).isEqualTo("finished");

      assertThat(submitter.find(two, dies).get("lease").get("cancelling").booleanValue()).isTrue();
      worker.kill();
      awaitCounter(submitter, "cancelled", 1);
      worker.start().awaitReady();
      assertThat(submitter.find(one, dies).get("state").stringValue()).isEqualTo("cancelled");
      assertThat(load.executions()).hasSize(2);
    }
  }

  private static void awaitCounter(Submitter submitter, String counter, int count) {
    Waiting.until(
        counter + ": " + count,
        () -> submitter.queue(one).get("counters").path(counter).asInt(0) == count);
  }

  private static Http.Answer interrupt(JavaProcess scheduler, Workload load, String id)
      throws IOException {
    return Http.delete(
        scheduler.url()
            + "/api/v1/jobs/"
            + load.application()
            + "/job/"
            + id
            + "?running=interrupt");
  }
}
