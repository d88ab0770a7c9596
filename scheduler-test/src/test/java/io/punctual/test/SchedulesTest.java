package io.punctual.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.InvalidJobException;
import io.punctual.TaskSubmitService;
import io.punctual.schedule.Missed;
import io.punctual.schedule.ScheduleResult;
import io.punctual.schedule.WhileRunning;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

class SchedulesTest {

  private static final String TYPE = "report.daily";
  private static final Instant START = Instant.parse("2027-03-01T00:00:00Z");

  private final TestScheduler scheduler = TestScheduler.builder().startingAt(START).build();
  private final TaskSubmitService tasks = scheduler.taskSubmitService();

  private List<Instant> runs(Duration time) {
    return scheduler.advance(time).stream().map(Attempt::at).toList();
  }

  @Test
  void eachPlannedInstantIsRunAsTheClockPassesIt() {
    scheduler.register(TYPE, params -> {});
    ScheduleResult created =
        tasks
            .schedule(TYPE, "p")
            .cron("0 9 * * *", ZoneOffset.UTC)
            .exclude(LocalDate.of(2027, 3, 2))
            .tag("t")
            .put();
    assertThat(created.outcome()).isEqualTo(ScheduleResult.Outcome.CREATED);
    assertThat(created.nextAt()).isEqualTo(START.plus(Duration.ofHours(9)));

    assertThat(runs(Duration.ofDays(3)))
        .containsExactly(START.plus(Duration.ofHours(9)), START.plus(Duration.ofHours(48 + 9)));

    assertThat(tasks.deleteSchedule(TYPE, TYPE)).isTrue();
    assertThat(tasks.deleteSchedule(TYPE, TYPE)).isFalse();
    assertThat(runs(Duration.ofDays(3))).isEmpty();
  }

  @Test
  void nothingFiresOnTheDatesOfACalendarAlsoIfTheyChange() {
    scheduler.putCalendar("closed", LocalDate.of(2027, 3, 2));
    scheduler.register(TYPE, params -> {});
    tasks.schedule(TYPE).cron("0 9 * * *", ZoneOffset.UTC).exclude("closed").put();

    assertThat(runs(Duration.ofDays(3)))
        .containsExactly(START.plus(Duration.ofHours(9)), START.plus(Duration.ofHours(48 + 9)));
    // The next instant is planned already.
    scheduler.putCalendar("closed", LocalDate.of(2027, 3, 4), LocalDate.of(2027, 3, 5));
    assertThat(runs(Duration.ofDays(3))).containsExactly(START.plus(Duration.ofHours(5 * 24 + 9)));
    scheduler.putCalendar("closed");
    assertThat(runs(Duration.ofDays(2)))
        .containsExactly(
            START.plus(Duration.ofHours(6 * 24 + 9)), START.plus(Duration.ofHours(7 * 24 + 9)));
  }

  @Test
  void datesThatAreTakenOutOfACalendarBringTheirRunsBack() {
    LocalDate second = LocalDate.of(2027, 3, 2);
    LocalDate third = LocalDate.of(2027, 3, 3);
    scheduler.putCalendar("closed", second, third);
    scheduler.register(TYPE, params -> {});
    Instant until = START.plus(Duration.ofHours(48 + 9));
    ScheduleResult put =
        tasks.schedule(TYPE).cron("0 9 * * *", ZoneOffset.UTC).until(until).exclude("closed").put();
    assertThat(put.nextAt()).isEqualTo(START.plus(Duration.ofHours(9)));
    // Of its days, the others are closed: nothing is planned that would run.
    assertThat(runs(Duration.ofDays(1))).containsExactly(START.plus(Duration.ofHours(9)));

    scheduler.putCalendar("closed", second);
    assertThat(runs(Duration.ofDays(3))).containsExactly(until);
  }

  @Test
  void theSameAgainChangesNothing() {
    for (ScheduleResult.Outcome outcome :
        List.of(ScheduleResult.Outcome.CREATED, ScheduleResult.Outcome.UNCHANGED)) {
      assertThat(tasks.schedule(TYPE).id("a").every(Duration.ofHours(1)).put().outcome())
          .isEqualTo(outcome);
    }
    assertThat(tasks.schedule(TYPE).id("a").every(Duration.ofHours(2)).put().outcome())
        .isEqualTo(ScheduleResult.Outcome.REPLACED);
  }

  @Test
  void anOccurrenceIsSkippedWhileTheJobBeforeWaits() {
    tasks.schedule(TYPE).every(Duration.ofHours(1)).put();
    scheduler.advance(Duration.ofHours(5));
    assertThat(scheduler.jobs()).hasSize(1);
    tasks
        .schedule(TYPE)
        .id("all")
        .every(Duration.ofHours(1))
        .whileRunning(WhileRunning.START)
        .put();
    scheduler.advance(Duration.ofHours(5));
    assertThat(scheduler.jobs()).hasSize(6);
  }

  @Test
  void whatIsWrongIsNamed() {
    assertThatThrownBy(() -> tasks.schedule(TYPE).cron("0 0 31 2 *", ZoneOffset.UTC).put())
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("cron never fires");
    assertThatThrownBy(() -> tasks.schedule(TYPE).put())
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("exactly one of cron and every");
    assertThatThrownBy(
            () -> tasks.schedule(TYPE).every(Duration.ofHours(1)).missed(Missed.ALL).put())
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("whileRunning");
    assertThatThrownBy(
            () -> tasks.schedule(TYPE).every(Duration.ofHours(1)).exclude("nowhere").put())
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("exclude names calendar 'nowhere' is not known");
    assertThatThrownBy(() -> tasks.schedule(TYPE).id("a@b").every(Duration.ofHours(1)).put())
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("id must be");
  }
}
