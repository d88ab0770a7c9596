package io.punctual.test;

import static io.punctual.test.PunctualAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.DelayQueueJob;
import io.punctual.RejectTaskException;
import io.punctual.RetryPolicy;
import java.time.Duration;
import java.time.Instant;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class PunctualAssertionsTest {

  private static final String TYPE = "order.close";
  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");

  private final TestScheduler scheduler = TestScheduler.builder().startingAt(START).build();

  private void send(String id, Duration delay) {
    scheduler
        .taskSubmitService()
        .send(
            DelayQueueJob.of(TYPE)
                .taskId(id)
                .params("{\"order\":" + id + "}")
                .header("tenant", "north")
                .tag("order:" + id)
                .tag("vip")
                .retry(RetryPolicy.parse("1m,1h"))
                .delay(delay)
                .build());
  }

  private static void fails(ThrowingCallable assertion, String message) {
    assertThatThrownBy(assertion)
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(message)
        .hasMessageContaining("It is 2026-03-01T");
  }

  @Test
  void aJobThatWaitsIsDescribed() {
    send("7", Duration.ofMinutes(30));

    assertThat(scheduler)
        .of(TYPE)
        .hasOne()
        .isWaiting()
        .dueIn(Duration.ofMinutes(30))
        .dueAt(START.plusSeconds(1800))
        .withParams("{\"order\":7}")
        .withHeader("tenant", "north")
        .withTags("vip", "order:7")
        .wasAttempted(0);
    assertThat(scheduler).of("other").hasNone().wasAttempted(0);
    assertThat(scheduler).hasNoDeadLetters();
  }

  @Test
  void messagesSayWhatWasThere() {
    send("7", Duration.ofMinutes(30));

    assertThatThrownBy(() -> assertThat(scheduler).of(TYPE).hasNone())
        .hasMessage(
            """
            Expected no job of order.close to be there, but there is 1
            It is 2026-03-01T12:00:00Z.
            Jobs there (1):
              order.close 7: WAITING, due 2026-03-01T12:30:00Z, params '{"order":7}', tags [order:7, vip], 0 of 3 attempts
            Attempts so far: none
            """);
    JobsAssert jobs = assertThat(scheduler).of(TYPE);
    fails(() -> jobs.hasSize(2), "Expected 2 jobs of order.close to be there, but there is 1");
    fails(() -> jobs.hasDead(1), "Expected one job of order.close to be dead letters, but 0 are");
    fails(() -> jobs.wasAttempted(1), "Expected 1 attempt of order.close, but there were 0");
    fails(() -> assertThat(scheduler).hasNone(), "Expected no job to be there");
    fails(
        () -> assertThat(scheduler).of("other").hasOne(),
        "Expected one job of other to be there, but there are 0");
  }

  @Test
  void messagesSayWhatAJobIs() {
    send("7", Duration.ofMinutes(30));
    JobAssert job = assertThat(scheduler).of(TYPE).hasOne();

    fails(
        () -> job.dueIn(Duration.ofSeconds(61)),
        "Expected job 7 of order.close to be due in 1m 1s, but it is due in 30m");
    fails(() -> job.dueAt(START), "to be due at 2026-03-01T12:00:00Z, but it is due at 2026-");
    fails(job::isDead, "to be a dead letter, but it waits");
    fails(job::isDone, "to be done, but it waits");
    fails(job::isCancelled, "to be cancelled, but it waits");
    fails(job::isInDelivery, "to be in delivery, but it waits");
    fails(() -> job.withParams("7"), "to have the params '7', but it has '{\"order\":7}'");
    fails(() -> job.withHeader("tenant", "south"), "but it has tenant: north");
    fails(() -> job.withHeader("other", "x"), "but it has only [tenant]");
    fails(
        () -> job.withTags("vip", "new"), "to have the tags [vip, new], but it has [order:7, vip]");
    fails(() -> job.wasAttempted(1), "to have had 1 attempt, but it had no attempt");
    fails(() -> job.failedWith("x"), "to have failed with 'x', but it did not run");

    scheduler.advance(Duration.ofMinutes(31));
    fails(() -> job.dueIn(Duration.ZERO), "to be due in 0s, but it was due 1m ago");
    assertThatCode(() -> job.dueIn(Duration.ofMinutes(-1))).doesNotThrowAnyException();
  }

  @Test
  void theLifeOfAJobIsFollowed() {
    scheduler.register(
        TYPE,
        params -> {
          throw new IllegalStateException("the bank is closed");
        });
    send("7", Duration.ZERO);
    JobAssert job = assertThat(scheduler).of(TYPE).job("7");

    scheduler.runDue();
    job.isWaiting().dueIn(Duration.ofMinutes(1)).wasAttempted(1).failedWith("the bank is closed");

    scheduler.advance(Duration.ofHours(2));
    job.isDead().wasAttempted(3).failedWith("IllegalStateException");
    assertThat(scheduler).of(TYPE).hasDead(1).wasAttempted(3).hasOne().isDead();
    fails(() -> job.dueIn(Duration.ZERO), "to be due in 0s, but it does not wait");
    fails(() -> job.failedWith("open"), "but it failed with java.lang.IllegalStateException");
    fails(
        () -> assertThat(scheduler).hasNoDeadLetters(),
        "order.close 7, attempt 3 at 2026-03-01T13:01:00Z: FAILED"
            + " (java.lang.IllegalStateException: the bank is closed)");
  }

  @Test
  void whatIsGoneIsKnownForAWhile() {
    scheduler.register(TYPE, params -> {});
    send("7", Duration.ZERO);
    send("8", Duration.ofHours(1));
    scheduler.runDue();
    scheduler.taskSubmitService().cancel(TYPE, "8");

    assertThat(scheduler).hasNone().of(TYPE).job("7").isDone().wasAttempted(1);
    JobAssert cancelled = assertThat(scheduler).of(TYPE).job("8").isCancelled();
    fails(() -> cancelled.dueIn(Duration.ZERO), "but it was cancelled");
    JobAssert never = assertThat(scheduler).of(TYPE).job("9");
    fails(never::isWaiting, "Expected job 9 of order.close to wait, but it is not there");
    fails(() -> assertThat(scheduler).of(TYPE).job("7").failedWith("x"), "did not fail");

    scheduler.advance(Duration.ofHours(1));

    JobAssert done = assertThat(scheduler).of(TYPE).job("7").wasAttempted(1);
    fails(done::isDone, "it was done, and ids are remembered for ten minutes only");
  }

  @Test
  void aDescriptionStandsBeforeTheMessage() {
    assertThatThrownBy(() -> assertThat(scheduler).as("after the payment").of(TYPE).hasOne())
        .hasMessageStartingWith("[after the payment] Expected one job");
  }

  @Test
  void aRejectedJobSaysWhy() {
    scheduler.register(
        TYPE,
        params -> {
          throw new RejectTaskException("no such order");
        });
    send("7", Duration.ZERO);
    scheduler.runDue();

    assertThat(scheduler).of(TYPE).hasOne().isDead().failedWith("no such order");
    fails(() -> assertThat(scheduler).of(TYPE).hasNone(), "last rejected: ");
  }
}
