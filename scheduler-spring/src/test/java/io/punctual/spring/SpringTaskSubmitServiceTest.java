package io.punctual.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.DelayQueueJob;
import io.punctual.InvalidJobException;
import io.punctual.RetryPolicy;
import io.punctual.SubmitResult;
import io.punctual.TaskSubmitService;
import io.punctual.conflict.OnConflict;
import io.punctual.conflict.OnConflict.Keep;
import io.punctual.conflict.OnConflict.WhileRunning;
import io.punctual.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SpringTaskSubmitServiceTest {

  private final RecordingScheduler scheduler = new RecordingScheduler();
  private final TaskSubmitService service =
      new SpringTaskSubmitService(
          scheduler,
          new Payloads(SnakeCaseMapper::create),
          type ->
              type.equals("set")
                  ? new WorkerSettings(3, Duration.ofSeconds(7), RetryPolicy.NEVER, null)
                  : WorkerSettings.NONE,
          Transactions.AFTER_COMMIT,
          new DirectCalls(scheduler, CommitFailures.NONE),
          InstantSource.system(),
          null,
          SubmitObservations.NONE);

  record CloseOrder(long orderNumber, LocalDate orderedOn) {}

  /** A bean that cannot be written. */
  public static final class Broken {
    public String getValue() {
      return Optional.<String>empty().orElseThrow(() -> new IllegalStateException("no value"));
    }
  }

  @Test
  void aScheduleCarriesItsPayloadAndWhatIsSetForItsWorker() {
    service
        .schedule("set", new CloseOrder(7, LocalDate.of(2026, 11, 22)))
        .every(Duration.ofHours(1))
        .put();
    assertThat(scheduler.schedules)
        .containsExactly(
            Schedule.of("set", "set")
                .every(Duration.ofHours(1), Instant.EPOCH)
                .params("{\"order_number\":7,\"ordered_on\":\"2026-11-22\"}")
                .timeToRun(Duration.ofSeconds(7))
                .retry(RetryPolicy.NEVER.text())
                .build());
    assertThat(service.deleteSchedule("set", "set")).isTrue();
  }

  @Test
  void aTextGoesOutAsItIs() {
    service.send("t", "hello \"you\"", Duration.ofMinutes(1));

    assertThat(job().params()).isEqualTo("hello \"you\"");
    assertThat(job().delay()).isEqualTo(Duration.ofMinutes(1));
  }

  @Test
  void everythingElseIsJsonByTheApplicationsMapperWithoutTypes() {
    service.send(
        "t", new CloseOrder(4711, LocalDate.of(2026, 11, 22)), Instant.ofEpochMilli(1_000));

    assertThat(job().params()).isEqualTo("{\"order_number\":4711,\"ordered_on\":\"2026-11-22\"}");
    assertThat(job().delayTime()).isEqualTo(1_000);
  }

  @Test
  void noPayloadIsAnEmptyText() {
    service.send("t", null, Duration.ZERO);

    assertThat(job().params()).isEmpty();
  }

  @Test
  void aPayloadThatCannotBeWrittenIsRefusedWithItsClass() {
    assertThatThrownBy(() -> service.send("t", new Broken(), Duration.ZERO))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("type t")
        .hasMessageContaining(Broken.class.getName())
        .hasMessageContaining("no value");
    assertThat(scheduler.jobs).isEmpty();
  }

  @Test
  void aJobCarriesWhatWasSaidOfIt() {
    SubmitResult result =
        service
            .job("t", List.of(1, 2))
            .id("a")
            .in(Duration.ofMinutes(30))
            .tag("order:1")
            .tag("shop:2")
            .header("x", "y")
            .timeToRun(Duration.ofSeconds(5))
            .retry(RetryPolicy.NEVER)
            .send();

    assertThat(result.taskId()).isEqualTo("a");
    assertThat(job())
        .isEqualTo(
            DelayQueueJob.of("t")
                .taskId("a")
                .delay(Duration.ofMinutes(30))
                .params("[1,2]")
                .timeToRun(Duration.ofSeconds(5))
                .retry(RetryPolicy.NEVER)
                .header("x", "y")
                .tags(List.of("order:1", "shop:2"))
                .build());
  }

  @Test
  void aJobSaysWhatToDoIfOneOfItsIdIsThere() {
    service.job("t", "").id("a").in(Duration.ZERO).replace().send();
    service.job("t", "").id("a").debounce(Duration.ofSeconds(5), Duration.ofMinutes(1)).send();
    service.job("t", "").id("a").in(Duration.ZERO).whileRunning(WhileRunning.DROP).send();

    assertThat(scheduler.jobs)
        .extracting(DelayQueueJob::onConflict)
        .containsExactly(
            OnConflict.REPLACE,
            OnConflict.debounce(Duration.ofMinutes(1), Keep.LAST),
            OnConflict.whileRunning(WhileRunning.DROP));
    assertThat(scheduler.jobs.get(1).delay()).isEqualTo(Duration.ofSeconds(5));
    assertThatThrownBy(
            () -> service.job("t", "").debounce(Duration.ofMinutes(1), Duration.ZERO).send())
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("quiet must be at most atMost (PT0S), but was PT1M");
    assertThatThrownBy(
            () ->
                service
                    .job("t", "")
                    .debounce(Duration.ZERO, Duration.ZERO)
                    .at(Instant.EPOCH)
                    .send())
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("quiet is missing");
  }

  @Test
  void whatIsOutOfRangeOrMissingIsNamed() {
    assertThatThrownBy(() -> service.job("t", null).send())
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("delay");
    assertThatThrownBy(() -> service.job("t", null).id("a b").in(Duration.ZERO).build())
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("taskId");
    assertThatThrownBy(() -> service.send("no type", "", Duration.ZERO))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("taskType");
    assertThat(scheduler.calls).isEmpty();
  }

  @Test
  void whatIsSetForTheWorkerIsForJobsThatDoNotSayItThemselves() {
    service.send("set", "", Duration.ZERO);
    service
        .job("set", "")
        .in(Duration.ZERO)
        .timeToRun(Duration.ofSeconds(9))
        .retry(RetryPolicy.NOTIFY)
        .send();
    service.sendAll(List.of(DelayQueueJob.of("set").delay(Duration.ZERO).build()));
    service.send("other", "", Duration.ZERO);

    assertThat(scheduler.jobs)
        .extracting(DelayQueueJob::timeToRun)
        .containsExactly(Duration.ofSeconds(7), Duration.ofSeconds(9), Duration.ofSeconds(7), null);
    assertThat(scheduler.jobs)
        .extracting(DelayQueueJob::retry)
        .containsExactly(RetryPolicy.NEVER, RetryPolicy.NOTIFY, RetryPolicy.NEVER, null);
  }

  @Test
  void manyJobsGoOutTogether() {
    service.sendAll(
        List.of(
            service.job("t", "1").id("a").in(Duration.ZERO).build(),
            service.job("t", "2").id("b").in(Duration.ZERO).build()));

    assertThat(scheduler.calls).containsExactly("submitAll [a, b]");
  }

  @Test
  void jobsAreMovedCancelledAndLookedAt() {
    service.reschedule("t", "a", Duration.ofHours(2));
    service.reschedule("t", "a", Instant.EPOCH);
    service.runNow("t", "a");
    service.cancel("t", "a");
    service.cancel("t", "a", TaskSubmitService.Running.INTERRUPT);
    service.cancelByTag("order:1");
    service.event("order.paid", "1");
    service.find("t", "a");

    assertThat(scheduler.calls)
        .containsExactly(
            "reschedule a PT2H",
            "reschedule a 1970-01-01T00:00:00Z",
            "reschedule a PT0S",
            "cancel a",
            "cancel a interrupt",
            "cancelByTag order:1",
            "event order.paid 1",
            "find a");
  }

  @Test
  void aJobNamesTheEventsThatItWaitsFor() {
    service
        .job("t", "x")
        .in(Duration.ofDays(1))
        .cancelOn("order.paid", "2")
        .cancelOn("order.paid", "1")
        .runOn("kyc.done", "7")
        .send();

    assertThat(job().cancelOn())
        .containsExactly(
            new DelayQueueJob.Event("order.paid", "1"), new DelayQueueJob.Event("order.paid", "2"));
    assertThat(job().runOn()).containsExactly(new DelayQueueJob.Event("kyc.done", "7"));
    assertThatThrownBy(() -> service.job("t", "x").cancelOn("order paid", "1"))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("name must be");
    assertThatThrownBy(() -> service.event("order.paid", ""))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("key must be");
  }

  private DelayQueueJob job() {
    assertThat(scheduler.jobs).hasSize(1);
    return scheduler.jobs.get(0);
  }
}
