package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.DIRECTORY;
import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.worker.WorkerApplication;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import tools.jackson.databind.JsonNode;

/**
 * The way of a job from one end to the other, on real processes. The tests mostly wait, and share
 * no queue.
 */
@Execution(ExecutionMode.CONCURRENT)
class EndToEndIT {

  /** Seconds; the first payment in a process that has just started takes one or two. */
  private static final int TIME_TO_PAY = 8;

  private static JavaProcess scheduler;

  @BeforeAll
  static void start() {
    scheduler = PROGRAMS.scheduler(REGISTRY, REDIS.port(), "e2e").start().awaitReady();
  }

  @AfterAll
  static void stop() {
    scheduler.close();
  }

  @Test
  void anUnpaidOrderClosesItselfAndAPaidOneDoesNot() throws Exception {
    try (JavaProcess demo = PROGRAMS.demo(REGISTRY, scheduler).start().awaitReady()) {
      JsonNode paid = placeAndPay(demo);
      // Due after the paid one: if that one had run, it would be closed.
      JsonNode unpaid = place(demo, TIME_TO_PAY + 1);
      Waiting.until("its job is cancelled", () -> state(paid).equals("cancelled"));

      Waiting.until("the unpaid order closes", () -> status(demo, unpaid).equals("CLOSED"));
      Waiting.until("its job is finished", () -> state(unpaid).equals("finished"));

      JsonNode closed = Http.get(demo.url() + "/orders/" + unpaid.get("id").stringValue()).json();
      assertThat(Instant.parse(closed.get("endedAt").stringValue()))
          .isAfterOrEqualTo(Instant.parse(closed.get("payUntil").stringValue()));
      assertThat(status(demo, paid)).isEqualTo("PAID");
      assertThat(state(paid)).isEqualTo("cancelled");
    }
  }

  @Test
  @Tag("full")
  void theDemoRunsItsOwnJobsOnceItsStarterIsSwapped() throws Exception {
    try (JavaProcess demo =
        PROGRAMS
            .demoInPluginMode(
                REDIS.port(),
                "plugin-demo",
                "--management.endpoints.web.exposure.include=health,punctual")
            .start()
            .awaitReady()) {
      JsonNode paid = placeAndPay(demo);
      // Due after the paid one: if that one had run, it would be closed.
      JsonNode unpaid = place(demo, TIME_TO_PAY + 1);

      Waiting.until("the unpaid order closes", () -> status(demo, unpaid).equals("CLOSED"));
      assertThat(status(demo, paid)).isEqualTo("PAID");
      String calls =
          MarkdownPage.of("docs/plugin.md")
              .blocks("Look at and requeue dead letters", "bash")
              .get(0);
      assertThat(
              ExampleProgram.shell(
                  DIRECTORY, Map.of(), calls.replace("localhost:8081", demo.url())))
          .containsExactly("[]", "{\"outcome\":\"unknown\"}");
    }
  }

  @Test
  void aRejectedJobIsADeadLetterWithItsReasonAndRunsAgainWhenRequeued() throws Exception {
    Workload load = Workload.of("rejecting");
    Submitter submitter = load.submitter();
    try (JavaProcess worker = load.worker(REGISTRY).start().awaitReady()) {
      submitter.submit(scheduler, "bad-", 1, "reject not today", System.currentTimeMillis(), 0);
      Waiting.until(
          "the job is dead",
          () -> submitter.find(scheduler, "bad-0").get("state").stringValue().equals("dead"));
      JsonNode error = submitter.find(scheduler, "bad-0").get("lastError");
      assertThat(error.get("message").stringValue()).contains("not today");
      assertThat(error.get("instance").stringValue()).endsWith(":" + worker.port());

      assertThat(submitter.requeue(scheduler, "bad-0").status()).isEqualTo(200);

      Waiting.until("it ran again", () -> load.executions().size() == 2);
      Waiting.until(
          "and is dead again",
          () -> submitter.find(scheduler, "bad-0").get("state").stringValue().equals("dead"));
    }
  }

  @Test
  void aCancelIsUndoneByAnotherSchedulerAfterTheFirstOneEnded() throws Exception {
    Workload load = Workload.of("undone");
    Submitter submitter = load.submitter();
    String id = "undone-0";
    try (JavaProcess first =
        PROGRAMS.scheduler(REGISTRY, REDIS.port(), "e2e").start().awaitReady()) {
      submitter.submit(first, "undone-", 1, "record", System.currentTimeMillis(), 0);
      assertThat(submitter.cancel(first, id)).isTrue();
    }
    try (JavaProcess worker = load.worker(REGISTRY).start().awaitReady()) {
      assertThat(load.executions()).isEmpty();
      assertThat(submitter.restore(scheduler, id).status()).isEqualTo(200);

      Waiting.until("it is due, and runs at once", () -> load.executions().size() == 1);
      Waiting.until(
          "it is done",
          () -> submitter.find(scheduler, id).get("state").stringValue().equals("finished"));
      JsonNode by = submitter.find(scheduler, id).get("finishedBy");
      assertThat(by.get("instance").stringValue()).endsWith(":" + worker.port());
      assertThat(submitter.restore(scheduler, id).status()).isEqualTo(409);
    }
  }

  @Test
  void anOperationIsUndoneByAnotherSchedulerAfterTheFirstOneEnded() throws Exception {
    Workload load = Workload.of("undoneall");
    Submitter submitter = load.submitter();
    String filter = "{\"application\":\"%s\",\"taskType\":\"%s\",\"operation\":\"sweep\"%s}";
    String operated = filter.formatted(load.application(), WorkerApplication.TYPE, "");
    try (JavaProcess first =
        PROGRAMS.scheduler(REGISTRY, REDIS.port(), "e2e").start().awaitReady()) {
      submitter.submit(first, "all-", 20, "record", System.currentTimeMillis() + 3_600_000, 0);
      assertThat(submitter.cancel(first, "all-0")).isTrue();
      Http.Answer cancelled = Http.post(first.url() + "/api/v1/jobs:cancel", operated);
      assertThat(cancelled.json().at("/outcomes/cancelled").asInt()).isEqualTo(19);
    }
    Http.Answer restored = Http.post(scheduler.url() + "/api/v1/jobs:restore", operated);
    assertThat(restored.json().at("/outcomes").toString()).isEqualTo("{\"restored\":19}");
    assertThat(submitter.find(scheduler, "all-1").get("state").stringValue()).isEqualTo("delayed");
    assertThat(submitter.find(scheduler, "all-0").get("state").stringValue())
        .isEqualTo("cancelled");
  }

  @Tag("full")
  @Test
  void aJobThatFailsWalksItsLadderUntilItIsDone() throws Exception {
    Workload load = Workload.of("failing");
    Submitter submitter = load.submitter();
    try (JavaProcess worker = load.worker(REGISTRY).start().awaitReady()) {
      String id = "fails-twice";
      assertThat(
              submitter.submitOne(
                  scheduler, id, "fail 2", System.currentTimeMillis(), "0s,500ms,1s"))
          .isTrue();
      Waiting.until(
          "it is done",
          () -> submitter.find(scheduler, id).get("state").stringValue().equals("finished"));

      assertThat(load.account().accepted()).isOne();
      assertThat(load.executions()).hasSize(3);
      assertThat(load.executions().get(2).begin() - load.executions().get(1).begin())
          .isGreaterThanOrEqualTo(500_000);
      assertThat(worker.port()).isPositive();
    }
  }

  private static JsonNode placeAndPay(JavaProcess demo) throws Exception {
    JsonNode order = place(demo, TIME_TO_PAY);
    String pay = demo.url() + "/orders/" + order.get("id").stringValue() + "/pay";
    assertThat(Http.post(pay, "{}").status()).isEqualTo(200);
    return order;
  }

  private static JsonNode place(JavaProcess demo, int seconds) throws Exception {
    Http.Answer answer =
        Http.post(
            demo.url() + "/orders", "{\"item\":\"tea\",\"payWithinSeconds\":" + seconds + "}");
    assertThat(answer.status()).isEqualTo(201);
    return answer.json();
  }

  private static String status(JavaProcess demo, JsonNode order) throws Exception {
    return Http.get(demo.url() + "/orders/" + order.get("id").stringValue())
        .json()
        .get("status")
        .stringValue();
  }

  private static String state(JsonNode order) throws Exception {
    return Http.get(
            scheduler.url()
                + "/api/v1/jobs/order-service/order.close/"
                + order.get("id").stringValue())
        .json()
        .get("state")
        .stringValue();
  }
}
