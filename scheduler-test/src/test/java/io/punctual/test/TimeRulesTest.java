package io.punctual.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.DelayQueueJob;
import io.punctual.InvalidJobException;
import io.punctual.RetryLaterException;
import io.punctual.RetryPolicy;
import io.punctual.TaskSubmitService;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimeRulesTest {

  private static final String TYPE = "sms.send";
  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");

  private final TestScheduler scheduler = TestScheduler.builder().startingAt(START).build();
  private final TaskSubmitService tasks = scheduler.taskSubmitService();
  private final List<String> ran = new ArrayList<>();

  private static DelayQueueJob.Builder job(String id) {
    return DelayQueueJob.of(TYPE).taskId(id).params(id).delay(Duration.ZERO);
  }

  @Test
  void afterSixHoursWithoutAWorkerWhatIsTooLateDiesAndAllElseRuns() {
    tasks.send(job("late").notAfter(START.plusSeconds(3600)).build());
    tasks.send(job("in-time").expiresIn(Duration.ofHours(7)).build());
    tasks.send(job("plain").build());
    scheduler.advance(Duration.ofHours(6));
    assertThat(scheduler.deadLetters()).extracting(StoredJob::taskId).containsExactly("late");

    scheduler.register(TYPE, ran::add);
    scheduler.runDue();

    assertThat(ran).containsExactlyInAnyOrder("in-time", "plain");
    assertThat(scheduler.deadLetters().get(0).failures().get(0))
        .contains("could not start in time");
  }

  @Test
  void aRetryThatWouldBeTooLateIsNone() {
    scheduler.register(
        TYPE,
        params -> {
          ran.add(params);
          throw new IllegalStateException("no");
        });
    tasks.send(
        job("1").retry(RetryPolicy.parse("1m,10m,1h")).expiresIn(Duration.ofMinutes(5)).build());
    scheduler.advance(Duration.ofHours(1));

    assertThat(ran).hasSize(2);
    assertThat(scheduler.deadLetters()).hasSize(1);
  }

  @Test
  void jobsThatAreDueAtOnceRunAtMomentsOfTheirOwn() {
    scheduler.register(TYPE, ran::add);
    for (int i = 0; i < 20; i++) {
      tasks.job(TYPE, "").id("job-" + i).in(Duration.ZERO).within(Duration.ofMinutes(5)).send();
    }
    scheduler.advance(Duration.ofMinutes(5));

    assertThat(scheduler.attempts()).hasSize(20);
    assertThat(scheduler.attempts().stream().map(Attempt::dueAt).distinct().count())
        .isGreaterThan(15);
  }

  @Test
  void attemptsStartInTheWindowAndNotOnADayOfTheCalendar() {
    // The first of March is a Sunday.
    scheduler.putCalendar("closed", LocalDate.parse("2026-03-02"));
    scheduler.register(
        TYPE,
        params -> {
          ran.add(params + " " + scheduler.now());
          if (ran.size() == 1) {
            throw new RetryLaterException(Duration.ofHours(20), "not yet");
          }
        });
    ZoneId berlin = ZoneId.of("Europe/Berlin");
    tasks
        .job(TYPE, "x")
        .id("1")
        .in(Duration.ZERO)
        .window("Mon-Fri 09:00-20:00", berlin)
        .calendar("closed", berlin)
        .send();
    scheduler.advance(Duration.ofDays(7));

    assertThat(ran).containsExactly("x 2026-03-03T08:00:00Z", "x 2026-03-04T08:00:00Z");
    assertThatThrownBy(() -> tasks.job(TYPE, "x").in(Duration.ZERO).calendar("none", berlin).send())
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("'none' is not known");
  }

  @Test
  void afterAnOutageOfSixHoursJobsRunInsideTheirWindow() {
    // By the time a worker is there again, the window is over: it opens on the next day.
    tasks.send(job("1").window("10:00-14:00").build());
    tasks.send(job("2").window("10:00-14:00").expiresIn(Duration.ofHours(8)).build());
    tasks.send(job("3").window("10:00-20:00").build());
    scheduler.advance(Duration.ofHours(6));
    scheduler.register(TYPE, params -> ran.add(params + " " + scheduler.now()));
    scheduler.advance(Duration.ofDays(1));

    assertThat(ran).containsExactly("3 2026-03-01T18:00:00Z", "1 2026-03-02T10:00:00Z");
    assertThat(scheduler.deadLetters()).extracting(StoredJob::taskId).containsExactly("2");
  }
}
