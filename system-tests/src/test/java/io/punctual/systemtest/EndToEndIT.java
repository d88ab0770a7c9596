package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REDIS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The way of a job from one end to the other, on real processes. */
class EndToEndIT {

  private static JavaProcess scheduler;

  @BeforeAll
  static void start() {
    scheduler = PROGRAMS.scheduler(REGISTRY, REDIS.port(), "e2e").start();
    scheduler.awaitReady();
  }

  @AfterAll
  static void stop() {
    scheduler.terminate();
  }

  @Test
  void anUnpaidOrderClosesItselfAndAPaidOneDoesNot() throws Exception {
    try (JavaProcess demo = PROGRAMS.demo(REGISTRY, scheduler).start().awaitReady()) {
      JsonNode paid = place(demo, 3);
      JsonNode unpaid = place(demo, 2);
      assertThat(
              Http.post(demo.url() + "/orders/" + paid.get("id").stringValue() + "/pay", "{}")
                  .status())
          .isEqualTo(200);
      assertThat(job(paid).json().get("state").stringValue()).isEqualTo("cancelled");

      Waiting.until("the unpaid order closes", () -> status(demo, unpaid).equals("CLOSED"));
      Waiting.until(
          "its job is finished",
          () -> job(unpaid).json().get("state").stringValue().equals("finished"));

      JsonNode closed = Http.get(demo.url() + "/orders/" + unpaid.get("id").stringValue()).json();
      assertThat(closed.get("endedAt").stringValue())
          .isGreaterThanOrEqualTo(closed.get("payUntil").stringValue());
      assertThat(status(demo, paid)).isEqualTo("PAID");
    }
  }

  @Test
  void jobsWaitWithoutLosingAnAttemptWhileTheirOnlyWorkerIsDead() throws Exception {
    String application = SharedSystem.name("waiting");
    Path record = SharedSystem.record(application);
    Submitter submitter = new Submitter(application);
    JavaProcess worker = PROGRAMS.worker(REGISTRY, application, record).start().awaitReady();
    submitter.submit(scheduler, "first-", 1, "record", System.currentTimeMillis(), 0);
    Waiting.until("the first job ran", () -> Execution.read(record).size() == 2);

    worker.kill();
    submitter.submit(scheduler, "late-", 20, "record", System.currentTimeMillis() + 500, 10);
    // The dead instance is still listed: at least one job finds that out.
    Waiting.until(
        "a job found nobody",
        () ->
            submitter.queue(scheduler).get("counters").path("undeliverable").intValue() > 0
                && submitter.queue(scheduler).get("ready").intValue() > 0);
    for (int i = 0; i < 20; i++) {
      JsonNode attempts = submitter.find(scheduler, "late-" + i).get("attempts");
      assertThat(attempts.get("failed").intValue()).isZero();
      assertThat(attempts.get("unknown").intValue()).isZero();
      assertThat(attempts.get("counted").intValue()).isZero();
    }

    try (JavaProcess returned = worker.start().awaitReady()) {
      Waiting.until("all jobs are done", () -> submitter.drained(scheduler));
      Accounting accounting =
          Accounting.of(submitter.attempted(), submitter.acknowledged(), Execution.read(record));
      assertThat(accounting.sound()).as(accounting.toString()).isTrue();
      assertThat(accounting.repeated()).isEmpty();
      assertThat(returned.port()).isEqualTo(worker.port());
    }
  }

  @Test
  void aRejectedJobIsADeadLetterWithItsReasonAndRunsAgainWhenRequeued() throws Exception {
    String application = SharedSystem.name("rejecting");
    Path record = SharedSystem.record(application);
    Submitter submitter = new Submitter(application);
    try (JavaProcess worker = PROGRAMS.worker(REGISTRY, application, record).start()) {
      worker.awaitReady();
      submitter.submit(scheduler, "bad-", 1, "reject not today", System.currentTimeMillis(), 0);
      Waiting.until(
          "the job is dead",
          () -> submitter.find(scheduler, "bad-0").get("state").stringValue().equals("dead"));
      assertThat(submitter.find(scheduler, "bad-0").get("lastError").get("message").stringValue())
          .contains("not today");

      Http.Answer requeued =
          Http.post(scheduler.url() + "/api/v1/jobs/" + application + "/job/bad-0/requeue", "");

      assertThat(requeued.status()).isEqualTo(202);
      Waiting.until("it ran again", () -> Execution.read(record).size() == 2);
    }
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

  private static Http.Answer job(JsonNode order) throws Exception {
    return Http.get(
        scheduler.url()
            + "/api/v1/jobs/order-service/order.close/"
            + order.get("id").stringValue());
  }
}
