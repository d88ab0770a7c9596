package io.punctual.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.DelayedTask;
import io.punctual.ErrorCode;
import io.punctual.PunctualException;
import io.punctual.SchedulerUnavailableException;
import io.punctual.internal.WorkerSetupException;
import io.punctual.schedule.Schedule;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import tools.jackson.databind.json.JsonMapper;

class AnnotatedSchedulesTest {

  private final RecordingScheduler scheduler = new RecordingScheduler();

  static class Reports {

    @DelayedTask(
        type = "report.daily",
        cron = "0 9 * * MON-FRI",
        zone = "Europe/Berlin",
        retry = "1s")
    void daily() {}

    @DelayedTask("report.now")
    void now() {}
  }

  static class Refused {

    @DelayedTask(type = RecordingScheduler.REFUSED, cron = "nonsense")
    void refused() {}
  }

  static class Nowhere {

    @DelayedTask(type = "t", cron = "@daily", zone = "Nowhere")
    void nowhere() {}
  }

  private AnnotatedSchedules schedules(
      AnnotationConfigApplicationContext context, Class<?>... beans) {
    context.register(beans);
    context.refresh();
    Payloads payloads = new Payloads(JsonMapper::new);
    AnnotatedWorkers workers = new AnnotatedWorkers(context.getBeanFactory(), payloads);
    return new AnnotatedSchedules(
        workers,
        new SpringTaskSubmitService(
            scheduler,
            payloads,
            workers::settings,
            Transactions.AFTER_COMMIT,
            new DirectCalls(scheduler, CommitFailures.NONE),
            InstantSource.system(),
            null,
            SubmitObservations.NONE),
        scheduler,
        Duration.ofMillis(20));
  }

  private static void eventually(Runnable assertion) {
    Awaitility.await().atMost(Duration.ofSeconds(30)).untilAsserted(assertion::run);
  }

  @Test
  void whatAnAnnotationSaysIsPutAtTheStartUntilASchedulerAnswers() {
    AtomicInteger calls = new AtomicInteger();
    scheduler.before =
        call -> {
          int number = calls.incrementAndGet();
          if (number == 1) {
            throw new PunctualException(ErrorCode.FORBIDDEN, "wrong token, as asked");
          } else if (number == 2) {
            throw new SchedulerUnavailableException(
                "no scheduler answers, as asked",
                Duration.ofSeconds(1),
                new IOException("asked for"));
          }
        };
    try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
      AnnotatedSchedules schedules = schedules(context, Reports.class);
      schedules.start();
      eventually(
          () ->
              assertThat(scheduler.schedules)
                  .isEqualTo(
                      List.of(
                          Schedule.of("report.daily", "report.daily")
                              .cron("0 9 * * MON-FRI", ZoneId.of("Europe/Berlin"))
                              .retry("1s")
                              .build())));
      assertThat(schedules.isRunning()).isTrue();
      schedules.stop();
      assertThat(schedules.isRunning()).isFalse();
    }
  }

  @Test
  void oneThatIsRefusedKeepsNoOtherFromBeingPut() {
    AtomicInteger calls = new AtomicInteger();
    scheduler.before =
        call -> {
          if (calls.incrementAndGet() == 1) {
            throw new IllegalStateException("a defect, as asked");
          }
        };
    try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
      AnnotatedSchedules schedules = schedules(context, Refused.class, Reports.class);
      schedules.start();
      eventually(
          () -> {
            assertThat(scheduler.schedules).hasSize(1);
            assertThat(scheduler.calls)
                .contains(
                    "put " + RecordingScheduler.REFUSED,
                    "declare " + RecordingScheduler.REFUSED + ",report.daily");
          });
      assertThat(scheduler.calls).containsOnlyOnce("put " + RecordingScheduler.REFUSED);
      schedules.stop();
    }
  }

  static class Plain {

    @DelayedTask("report.now")
    void now() {}
  }

  @Test
  void anInstanceDeclaresAgainAndAgainWhatItHasAlsoIfThatIsNothing() {
    for (Class<?> beans : List.of(Reports.class, Plain.class)) {
      scheduler.calls.clear();
      try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
        AnnotatedSchedules schedules = schedules(context, beans);
        schedules.start();
        String declared = beans == Plain.class ? "declare " : "declare report.daily";
        eventually(
            () -> assertThat(scheduler.calls).filteredOn(declared::equals).hasSizeGreaterThan(2));
        schedules.stop();
      }
    }
  }

  @Test
  void aZoneThatIsNoneStopsTheStart() {
    try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
      AnnotatedSchedules schedules = schedules(context, Nowhere.class);
      assertThatThrownBy(schedules::start)
          .isInstanceOf(WorkerSetupException.class)
          .hasMessageContaining("Nowhere");
    }
  }
}
