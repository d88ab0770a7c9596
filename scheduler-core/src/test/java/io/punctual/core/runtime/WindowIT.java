package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.core.Engine;
import io.punctual.core.job.Due;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobState;
import io.punctual.core.store.query.JobView;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.junit.jupiter.api.Test;

/** No attempt starts outside of a job's hours. */
class WindowIT extends EngineTestBase {

  private static JobView job(Engine engine, String id) {
    return engine.find(QUEUE, id).orElseThrow();
  }

  /** An hour of each day that begins in two hours. */
  private static LocalTime later() {
    return LocalTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.MINUTES).plusHours(2);
  }

  private static String window(LocalTime from) {
    return from + "-" + from.plusHours(1);
  }

  private static Instant next(LocalTime time) {
    Instant today = LocalDate.now(ZoneOffset.UTC).atTime(time).toInstant(ZoneOffset.UTC);
    return today.isBefore(Instant.now()) ? today.plus(Duration.ofDays(1)) : today;
  }

  @Test
  void whatIsDueOutsideIsDueAtTheNextOpening() {
    Engine engine = engine(TestDispatcher.done());
    LocalTime from = later();
    long due = submit(engine, "a", job -> job.delay(Duration.ZERO).window(window(from))).dueAt();
    assertThat(due).isBetween(next(from).toEpochMilli(), next(from).plusSeconds(1).toEpochMilli());

    Instant monday = Instant.parse("2040-01-02T12:00:00Z");
    assertThat(
            submit(
                    engine,
                    "b",
                    job ->
                        job.dueAt(monday)
                            .window("Tue 09:00-10:00")
                            .windowZone(ZoneId.of("Europe/Berlin")))
                .dueAt())
        .isEqualTo(Instant.parse("2040-01-03T08:00:00Z").toEpochMilli());
    long spread =
        submit(
                engine,
                "c",
                job -> job.dueAt(monday).window("Tue 09:00-09:01").within(Duration.ofHours(1)))
            .dueAt();
    assertThat(spread)
        .isBetween(
            Instant.parse("2040-01-03T09:00:00Z").toEpochMilli(),
            Instant.parse("2040-01-03T09:00:59.999Z").toEpochMilli());
  }

  @Test
  void aClaimOutsideIsGivenBackAndNoAttempt() {
    TestDispatcher dispatcher = TestDispatcher.done();
    Engine engine = engine(dispatcher);
    LocalTime from = later();
    submit(engine, "a", job -> job.delay(Duration.ofHours(50)).window(window(from)));
    submit(engine, "b", Duration.ofHours(50));
    for (String id : List.of("a", "b")) {
      var unused = engine.operations().revise(QUEUE, id, Due.in(0), null, null);
    }

    eventually().until(() -> dispatcher.seen.contains("b"));
    long opening = next(from).toEpochMilli();
    eventually().until(() -> job(engine, "a").at() < opening + 1000);
    assertThat(job(engine, "a").at()).isGreaterThanOrEqualTo(opening);
    JobView given = job(engine, "a");
    assertThat(given.state()).isEqualTo(JobState.DELAYED);
    assertThat(given.tries().attempts()).isZero();
    assertThat(given.failures()).isEmpty();
    assertThat(dispatcher.seen).doesNotContain("a");
  }

  @Test
  void aRetryWaitsForTheNextOpeningAndOneThatNeverComesInTimeIsNone() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    LocalTime now = LocalTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.MINUTES);
    String open = now.minusHours(1) + "-" + now.plusHours(1);
    submit(engine, "a", job -> job.delay(Duration.ZERO).window(open));
    submit(
        engine, "b", job -> job.delay(Duration.ZERO).window(open).expiresIn(Duration.ofHours(3)));
    for (int i = 0; i < 2; i++) {
      dispatcher.next().failed(new ErrorNote("here", "broken"), Duration.ofHours(2)).join();
    }

    long opening = next(now.minusHours(1)).toEpochMilli();
    assertThat(job(engine, "a").at()).isBetween(opening, opening + 1000);
    assertThat(job(engine, "b").deathReason()).isEqualTo("expired");
  }

  @Test
  void noJobStartsOnADayOfItsCalendar() {
    TestDispatcher dispatcher = TestDispatcher.done();
    Engine engine = engine(dispatcher);
    Engine other = engine(store(), options("other"), dispatcher, null);
    LocalDate today = LocalDate.now(ZoneOffset.UTC);
    assertThat(other.calendars().put("today", List.of(today))).isTrue();
    assertThat(other.calendars().put("today", List.of(today, today.plusDays(1)))).isFalse();

    engine.calendars().require("today");
    long due = submit(engine, "a", job -> job.delay(Duration.ZERO).calendar("today")).dueAt();
    Instant opening = today.plusDays(2).atStartOfDay().toInstant(ZoneOffset.UTC);
    assertThat(due).isBetween(opening.toEpochMilli(), opening.plusSeconds(1).toEpochMilli());

    assertThat(engine.calendars().find("today")).isPresent();
    assertThat(engine.calendars().delete("today")).isTrue();
    assertThat(engine.calendars().delete("today")).isFalse();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> engine.calendars().require("today"))
        .withMessageContaining("'today' is not known");
    var unused = engine.operations().revise(QUEUE, "a", Due.in(0), null, null);
    eventually().until(() -> dispatcher.seen.contains("a"));
  }
}
