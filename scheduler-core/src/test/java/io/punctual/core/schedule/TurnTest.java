package io.punctual.core.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.core.job.Due;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.QueueName;
import io.punctual.schedule.Fold;
import io.punctual.schedule.Gap;
import io.punctual.schedule.Missed;
import io.punctual.schedule.WhileRunning;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TurnTest {

  private static final Instant T = Instant.parse("2027-01-01T00:00:00Z");
  private static final BooleanSupplier RUNS = () -> true;
  private static final BooleanSupplier ENDED = () -> false;

  private static ScheduleDefinition every(
      Duration every, Missed missed, @Nullable Duration within, WhileRunning running) {
    return new ScheduleDefinition(
        new Recurrence(null, every, T, ZoneOffset.UTC, Gap.SHIFT, Fold.FIRST, null, null, Set.of()),
        missed,
        within,
        running,
        Duration.ZERO,
        JobContent.of(Due.in(0)).build());
  }

  private static ScheduleDefinition hourly(Missed missed, @Nullable Duration within) {
    return every(Duration.ofHours(1), missed, within, WhileRunning.START);
  }

  private static Instant hour(int hour) {
    return T.plus(Duration.ofHours(hour));
  }

  private static Turn turn(
      ScheduleDefinition definition, ScheduleState state, Instant now, BooleanSupplier running) {
    return Turn.of(definition, calendar -> Set.of(), state, now, running);
  }

  private static ScheduleState at(Instant planned) {
    return ScheduleState.begin("v", planned);
  }

  private static ScheduleState ran(Instant last, Instant planned) {
    return new ScheduleState("v", planned, null, last, null, 0, 0, 0);
  }

  @Test
  void whatIsOnTimeFiresAndTheNextOneIsComputedFromIt() {
    Turn turn = turn(hourly(Missed.NONE, null), at(hour(1)), hour(1).plusSeconds(60), RUNS);
    assertThat(turn.fire()).containsExactly(hour(1));
    assertThat(turn.next())
        .isEqualTo(new ScheduleState("v", hour(2), null, hour(1), null, 1, 0, 0));
    assertThat(turn.lookAt()).isEqualTo(hour(2));
  }

  @Test
  void nothingFiresEarly() {
    Turn turn = turn(hourly(Missed.ALL, null), at(hour(1)), hour(1).minusMillis(1), RUNS);
    assertThat(turn.fire()).isEmpty();
    assertThat(turn.next()).isEqualTo(at(hour(1)));
  }

  @Test
  void afterAnOutageOfSixHoursTheRuleForMissedOnesDecides() {
    // 01:00 to 06:00 are missed, and 07:00 is on time or not due yet.
    Instant late = hour(6).plusSeconds(61);
    Instant onTime = hour(7).plusSeconds(1);
    assertThat(turn(hourly(Missed.NONE, null), at(hour(1)), late, ENDED).next())
        .isEqualTo(new ScheduleState("v", hour(7), null, null, null, 0, 0, 6));
    assertThat(turn(hourly(Missed.LATEST, null), at(hour(1)), late, ENDED).next())
        .isEqualTo(new ScheduleState("v", hour(7), null, hour(6), null, 1, 0, 5));
    assertThat(turn(hourly(Missed.ALL, null), at(hour(1)), late, ENDED).fire())
        .containsExactly(hour(1), hour(2), hour(3), hour(4), hour(5), hour(6));
    assertThat(turn(hourly(Missed.NONE, null), at(hour(1)), onTime, ENDED).fire())
        .containsExactly(hour(7));
    assertThat(turn(hourly(Missed.LATEST, null), at(hour(1)), onTime, ENDED).next())
        .isEqualTo(new ScheduleState("v", hour(8), null, hour(7), null, 1, 0, 6));
    Duration within = Duration.ofMinutes(150);
    assertThat(turn(hourly(Missed.ALL, within), at(hour(1)), late, ENDED).next())
        .isEqualTo(new ScheduleState("v", hour(7), null, hour(6), null, 3, 0, 3));
    assertThat(turn(hourly(Missed.LATEST, Duration.ofMinutes(1)), at(hour(1)), late, ENDED).next())
        .isEqualTo(new ScheduleState("v", hour(7), null, null, null, 0, 0, 6));
  }

  @Test
  void aLongOutageIsMadeUpForInTurns() {
    for (Missed missed : Missed.values()) {
      ScheduleDefinition seconds = every(Duration.ofSeconds(1), missed, null, WhileRunning.START);
      ScheduleState state = at(T);
      Instant now = T.plusSeconds(5000);
      int turns = 0;
      while (!state.planned().isAfter(now)) {
        Turn turn = turn(seconds, state, now, ENDED);
        assertThat(turn.fire().size()).isLessThanOrEqualTo(Turn.MAX_FIRED);
        assertThat(turn.lookAt()).isEqualTo(turn.next().planned());
        state = turn.next();
        turns++;
      }
      assertThat(turns).isEqualTo(missed == Missed.ALL ? 51 : 1);
      assertThat(state.fired() + state.missed()).isEqualTo(5001);
      // Of those that are late by a minute at most, all but with latest all.
      assertThat(state.fired()).isEqualTo(missed == Missed.ALL ? 5001 : 61);
    }
  }

  @Test
  void whatIsMissedForAYearIsPassedOverAtOnce() {
    Instant now = T.plus(Duration.ofDays(365));
    ScheduleDefinition seconds =
        every(Duration.ofSeconds(1), Missed.NONE, null, WhileRunning.START);
    Turn exact = turn(seconds, at(T), now, ENDED);
    assertThat(exact.next().planned()).isEqualTo(now.plusSeconds(1));
    assertThat(exact.next().missed()).isEqualTo(365 * 86_400 - 60);

    Turn bounded = turn(cron("* * * * * *", Missed.NONE), at(T), now, ENDED);
    assertThat(bounded.next().planned()).isEqualTo(now.plusSeconds(1));
    assertThat(bounded.next().missed()).isEqualTo(Turn.MAX_STEPS);

    // Of each January 1st only the first hour is named.
    Turn latest =
        turn(cron("* * 0 1 1 *", Missed.LATEST), at(T), now.plus(Duration.ofDays(9)), ENDED);
    assertThat(latest.fire()).containsExactly(now.plus(Duration.ofMinutes(60)).minusSeconds(1));
    assertThat(latest.next().planned()).isEqualTo(Instant.parse("2029-01-01T00:00:00Z"));
  }

  private static ScheduleDefinition cron(String cron, Missed missed) {
    return new ScheduleDefinition(
        new Recurrence(
            Cron.parse(cron), null, T, ZoneOffset.UTC, Gap.SHIFT, Fold.FIRST, null, null, Set.of()),
        missed,
        null,
        WhileRunning.START,
        Duration.ZERO,
        JobContent.of(Due.in(0)).build());
  }

  @Test
  void ofSeveralThatFireTheFirstOnesCountWhereTheNextOneIsRefused() {
    ScheduleState before = ran(hour(1), hour(2));
    Instant now = hour(6).plusSeconds(1);
    Duration within = Duration.ofMinutes(150);
    Turn turn = turn(hourly(Missed.ALL, within), before, now, ENDED);
    assertThat(turn.fire()).containsExactly(hour(4), hour(5), hour(6));

    Turn first = turn.onlyFirst(2, before, now.plusSeconds(10));

    assertThat(first.fire()).containsExactly(hour(4), hour(5));
    assertThat(first.next())
        .isEqualTo(new ScheduleState("v", hour(6), null, hour(5), null, 2, 0, 2));
    assertThat(first.lookAt()).isEqualTo(now.plusSeconds(10));
  }

  @Test
  void theLongerAnOccurrenceWaitsTheLessOftenItIsLookedAt() {
    ScheduleDefinition queue = every(Duration.ofDays(9), Missed.NONE, null, WhileRunning.QUEUE);
    ScheduleState waits =
        new ScheduleState("v", T.plus(Duration.ofDays(9)), null, hour(0), hour(1), 0, 0, 0);
    Duration[] after = {
      Duration.ofSeconds(3), Duration.ofMinutes(5), Duration.ofHours(1), Duration.ofDays(1)
    };
    int[] seconds = {1, 30, 60, 60};
    for (int i = 0; i < after.length; i++) {
      Instant now = hour(1).plus(after[i]);
      assertThat(turn(queue, waits, now, RUNS).lookAt()).isEqualTo(now.plusSeconds(seconds[i]));
    }
  }

  @Test
  void whileTheJobBeforeIsThereTheNextOneIsSkipped() {
    ScheduleDefinition skip = every(Duration.ofHours(1), Missed.NONE, null, WhileRunning.SKIP);
    Instant now = hour(2).plusSeconds(1);
    assertThat(turn(skip, ran(hour(1), hour(2)), now, RUNS).next())
        .isEqualTo(new ScheduleState("v", hour(3), null, hour(1), null, 0, 1, 0));
    assertThat(turn(skip, ran(hour(1), hour(2)), now, ENDED).fire()).containsExactly(hour(2));
    // There is none before the first.
    assertThat(turn(skip, at(hour(2)), now, RUNS).fire()).containsExactly(hour(2));
  }

  @Test
  void oneOccurrenceWaitsForTheJobBeforeAndFurtherOnesAreSkipped() {
    ScheduleDefinition queue = every(Duration.ofHours(1), Missed.NONE, null, WhileRunning.QUEUE);
    Turn second = turn(queue, ran(hour(1), hour(2)), hour(2), RUNS);
    assertThat(second.fire()).isEmpty();
    assertThat(second.next().waiting()).isEqualTo(hour(2));
    assertThat(second.lookAt()).isEqualTo(hour(2).plus(Turn.WAIT));

    Turn third = turn(queue, second.next(), hour(3), RUNS);
    assertThat(third.next())
        .isEqualTo(new ScheduleState("v", hour(4), null, hour(1), hour(2), 0, 1, 0));

    Turn ended = turn(queue, third.next(), hour(3).plusSeconds(7), ENDED);
    assertThat(ended.fire()).containsExactly(hour(2));
    assertThat(ended.next())
        .isEqualTo(new ScheduleState("v", hour(4), null, hour(2), null, 1, 1, 0));
    assertThat(ended.lookAt()).isEqualTo(hour(4));

    // At the same moment the next one is due: the one that waited goes, and it waits itself.
    Turn both = turn(queue, third.next(), hour(4), ENDED);
    assertThat(both.fire()).containsExactly(hour(2));
    assertThat(both.next().waiting()).isEqualTo(hour(4));
  }

  @Test
  void whetherAJitterFitsDoesNotDependOnTheTimeOfTheDay() {
    ScheduleDefinition twice =
        new ScheduleDefinition(
            new Recurrence(
                Cron.parse("10,30 22 * * *"),
                null,
                T,
                ZoneOffset.UTC,
                Gap.SHIFT,
                Fold.FIRST,
                null,
                null,
                Set.of()),
            Missed.LATEST,
            null,
            WhileRunning.SKIP,
            Duration.ofHours(1),
            JobContent.of(Due.in(0)).build());
    for (String time : List.of("22:00:00", "22:17:00", "23:00:00")) {
      assertThatIllegalArgumentException()
          .as(time)
          .isThrownBy(() -> twice.requireSense(Instant.parse("2026-11-25T" + time + "Z")))
          .withMessageStartingWith("jitter must be less than PT20M");
    }
  }

  @Test
  void jitterMovesTheDueTimeOfAJobAndNotItsName() {
    ScheduleDefinition plain = hourly(Missed.NONE, null);
    ScheduleDefinition jittered =
        new ScheduleDefinition(
            plain.recurrence(),
            plain.missed(),
            null,
            plain.whileRunning(),
            Duration.ofMinutes(5),
            plain.job());
    ScheduleName name = new ScheduleName(new QueueName("shop", "t"), "s");
    long spread =
        IntStream.range(0, 100)
            .mapToLong(
                i -> {
                  assertThat(jittered.job(name, hour(i)).taskId()).isEqualTo("s@" + hour(i));
                  assertThat(jittered.job(name, hour(i))).isEqualTo(jittered.job(name, hour(i)));
                  return jittered.job(name, hour(i)).delayTime() - hour(i).toEpochMilli();
                })
            .peek(delay -> assertThat(delay).isBetween(0L, 300_000L))
            .distinct()
            .count();
    assertThat(spread).isGreaterThan(90);
    assertThat(plain.job(name, hour(1)).delayTime()).isEqualTo(hour(1).toEpochMilli());
  }

  /** At noon, but for the dates of a calendar. 2027-01-01 is the first day. */
  private static Turn noon(
      Missed missed, @Nullable Instant until, ScheduleState state, Instant now, int... closed) {
    Recurrence daily =
        new Recurrence(
            Cron.parse("0 12 * * *"),
            null,
            T,
            ZoneOffset.UTC,
            Gap.SHIFT,
            Fold.FIRST,
            null,
            until,
            Set.of());
    ScheduleDefinition definition =
        new ScheduleDefinition(
            daily,
            Set.of("closed"),
            missed,
            null,
            WhileRunning.START,
            Duration.ZERO,
            JobContent.of(Due.in(0)).build());
    Set<LocalDate> dates =
        IntStream.of(closed)
            .mapToObj(day -> LocalDate.of(2027, 1, day))
            .collect(Collectors.toSet());
    return Turn.of(definition, calendar -> dates, state, now, ENDED);
  }

  private static Instant noon(int day) {
    return T.plus(Duration.ofHours(24L * (day - 1) + 12));
  }

  @Test
  void aDateOfACalendarIsPlannedAndPassedOverWhenItIsDue() {
    Turn first = noon(Missed.NONE, null, at(noon(1)), noon(1), 2, 3);
    assertThat(first.fire()).containsExactly(noon(1));
    assertThat(first.next().planned()).isEqualTo(noon(2));
    assertThat(first.lookAt()).isEqualTo(noon(2));

    // It is no run that was skipped or missed.
    Turn second = noon(Missed.NONE, null, first.next(), noon(2), 2, 3);
    assertThat(second.fire()).isEmpty();
    assertThat(second.next())
        .isEqualTo(new ScheduleState("v", noon(3), null, noon(1), null, 1, 0, 0));

    // Its date was taken out meanwhile.
    assertThat(noon(Missed.NONE, null, second.next(), noon(3), 2).fire()).containsExactly(noon(3));
  }

  @Test
  void aScheduleOfWhichTheLastDatesAreClosedHasNotEnded() {
    Turn first = noon(Missed.NONE, noon(3), at(noon(1)), noon(1), 2, 3);
    assertThat(first.next().planned()).isEqualTo(noon(2));
    Turn second = noon(Missed.NONE, noon(3), first.next(), noon(2), 2);
    assertThat(noon(Missed.NONE, noon(3), second.next(), noon(3)).fire()).containsExactly(noon(3));
    assertThat(noon(Missed.NONE, noon(3), second.next(), noon(3), 3).next().planned()).isNull();
  }

  @Test
  void datesOfACalendarAreNotMissed() {
    // No turn from the second day on; it is the evening of the sixth.
    Instant now = noon(6).plus(Duration.ofHours(8));
    Turn none = noon(Missed.NONE, null, at(noon(2)), now, 2, 4, 6);
    assertThat(none.fire()).isEmpty();
    assertThat(none.next()).isEqualTo(new ScheduleState("v", noon(7), null, null, null, 0, 0, 2));

    Turn latest = noon(Missed.LATEST, null, at(noon(2)), now, 2, 4, 6);
    assertThat(latest.fire()).containsExactly(noon(5));
    assertThat(latest.next())
        .isEqualTo(new ScheduleState("v", noon(7), null, noon(5), null, 1, 0, 1));

    Turn all = noon(Missed.ALL, null, at(noon(2)), now, 2, 4, 6);
    assertThat(all.fire()).containsExactly(noon(3), noon(5));
    assertThat(all.next()).isEqualTo(new ScheduleState("v", noon(7), null, noon(5), null, 2, 0, 0));

    Turn closed = noon(Missed.LATEST, null, at(noon(2)), now, 2, 3, 4, 5, 6);
    assertThat(closed.next()).isEqualTo(at(noon(7)));
  }
}
