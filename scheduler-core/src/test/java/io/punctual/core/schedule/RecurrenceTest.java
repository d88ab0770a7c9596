package io.punctual.core.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.schedule.Fold;
import io.punctual.schedule.Gap;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RecurrenceTest {

  private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
  private static final Instant NOON = Instant.parse("2027-01-01T12:00:00Z");

  private static Recurrence cron(String cron, Gap gap, Fold fold) {
    return new Recurrence(
        Cron.parse(cron), null, Instant.EPOCH, BERLIN, gap, fold, null, null, Set.of());
  }

  private static Recurrence bounded(
      String cron, @Nullable String from, @Nullable String until, LocalDate... exclude) {
    return new Recurrence(
        Cron.parse(cron),
        null,
        Instant.EPOCH,
        BERLIN,
        Gap.SHIFT,
        Fold.FIRST,
        from == null ? null : Instant.parse(from),
        until == null ? null : Instant.parse(until),
        Set.of(exclude));
  }

  private static List<String> next(Recurrence recurrence, Instant after, int max) {
    return recurrence.next(after, max).stream().map(found -> found.at().toString()).toList();
  }

  private static List<String> next(String cron, int max) {
    return next(cron(cron, Gap.SHIFT, Fold.FIRST), NOON, max);
  }

  @Test
  void notesSayWhatTheZoneDoesToALocalTime() {
    Instant march = Instant.parse("2027-03-27T12:00:00Z");
    assertThat(cron("30 2 * * *", Gap.SHIFT, Fold.FIRST).next(march, 2))
        .containsExactly(
            new Occurrence(
                Instant.parse("2027-03-28T01:30:00Z"),
                "02:30 does not exist on 2027-03-28; moved by 1H"),
            new Occurrence(Instant.parse("2027-03-29T00:30:00Z"), null));
    assertThat(cron("30 2 * * *", Gap.SKIP, Fold.FIRST).next(march, 2))
        .containsExactly(
            new Occurrence(
                Instant.parse("2027-03-29T00:30:00Z"),
                "before it, 02:30 does not exist on 2027-03-28 and was skipped"),
            new Occurrence(Instant.parse("2027-03-30T00:30:00Z"), null));
    Instant october = Instant.parse("2027-10-30T12:00:00Z");
    assertThat(cron("30 2 * * *", Gap.SHIFT, Fold.BOTH).next(october, 2))
        .containsExactly(
            new Occurrence(
                Instant.parse("2027-10-31T00:30:00Z"),
                "02:30 comes twice on 2027-10-31; this is the first"),
            new Occurrence(
                Instant.parse("2027-10-31T01:30:00Z"),
                "02:30 comes twice on 2027-10-31; this is the second"));
  }

  @Test
  void eachOfTheTwoDaysOfCrontabSuffices() {
    assertThat(next("0 9 13 * FRI", 4))
        .containsExactly(
            "2027-01-08T08:00:00Z",
            "2027-01-13T08:00:00Z",
            "2027-01-15T08:00:00Z",
            "2027-01-22T08:00:00Z");
  }

  @Test
  void bothDaysMustFitWhereThereAreSeconds() {
    assertThat(next("30 0 9 13 * FRI", 2))
        .containsExactly("2027-08-13T07:00:30Z", "2028-10-13T07:00:30Z");
  }

  @ParameterizedTest
  @CsvSource({
    "0 9 * * 1-5, 2027-01-04T08:00:00Z",
    "0 9 * * MON-FRI, 2027-01-04T08:00:00Z",
    "0 9 * * 0, 2027-01-03T08:00:00Z",
    "0 9 * * 7, 2027-01-03T08:00:00Z",
    "0 9 L * *, 2027-01-31T08:00:00Z",
    "0 0 31 2 MON, 2027-01-31T23:00:00Z",
    "0 9 L-27 2 *, 2027-02-01T08:00:00Z",
    "0 9 LW * *, 2027-01-29T08:00:00Z",
    "0 9 16W * *, 2027-01-15T08:00:00Z",
    "0 9 * * 5L, 2027-01-29T08:00:00Z",
    "0 9 * * TUE#2, 2027-01-12T08:00:00Z",
    "0 9 * jan-feb ?, 2027-01-02T08:00:00Z",
    "0 0 29 2 *, 2028-02-28T23:00:00Z",
    "0 0 0 29 2 FRI, 2036-02-28T23:00:00Z",
    "@yearly, 2027-12-31T23:00:00Z",
    "@monthly, 2027-01-31T23:00:00Z",
    "@weekly, 2027-01-02T23:00:00Z",
    "@daily, 2027-01-01T23:00:00Z",
    "@hourly, 2027-01-01T13:00:00Z"
  })
  void namesMacrosAndSpecialDaysAreKnown(String cron, String first) {
    assertThat(next(cron, 1)).containsExactly(first);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "* * * *",
        "0 0 0 1 1 ? 2027",
        "60 * * * *",
        "* * * * * 8",
        "*/0 * * * *",
        "@every",
        "@reboot",
        "0 0 31 2 *",
        "0 0 0 31 2 MON",
        "5-1 * * * *",
        "0 0 0 L-28 * *",
        "0 0 5,L-40 * *",
        "0 0 0 L-9999999999 * *",
        "0 0 * * FUN"
      })
  void whatIsNoExpressionOrNeverFiresIsRefused(String cron) {
    assertThatThrownBy(() -> Cron.parse(cron))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("cron ")
        .hasMessageNotContaining("0 0 0 31");
  }

  @Test
  void aTimeThatExistsOnNoDayEndsTheSearch() {
    assertThat(cron("30 2 * 3 SUNL", Gap.SKIP, Fold.FIRST).next(NOON)).isNull();
    assertThat(next("30 2 * 3 SUNL", 1)).containsExactly("2027-03-28T01:30:00Z");
  }

  @Test
  void boundsCountAndExcludedDatesAreThoseOfTheZone() {
    Recurrence evening =
        bounded(
            "30 0,23 * * *",
            "2027-02-01T22:30:00Z",
            "2027-02-03T22:30:00Z",
            LocalDate.of(2027, 2, 2));
    assertThat(next(evening, NOON, 10))
        .containsExactly("2027-02-01T22:30:00Z", "2027-02-02T23:30:00Z", "2027-02-03T22:30:00Z");
  }

  @Test
  void aRhythmOfSecondsLeavesAYearOut() {
    LocalDate[] year =
        IntStream.range(0, 365)
            .mapToObj(day -> LocalDate.of(2027, 1, 2).plusDays(day))
            .toArray(LocalDate[]::new);
    Recurrence seconds = bounded("* * * * * *", "2027-01-02T12:00:00Z", null, year);
    assertThat(next(seconds, NOON, 1)).containsExactly("2028-01-01T23:00:00Z");
  }

  @Test
  void stepsBeginWithTheirAnchor() {
    Instant anchor = Instant.parse("2027-02-01T09:00:00.250Z");
    Recurrence steps =
        new Recurrence(
            null,
            Duration.ofHours(25),
            anchor,
            BERLIN,
            Gap.SHIFT,
            Fold.FIRST,
            null,
            null,
            Set.of());
    assertThat(next(steps, NOON, 2))
        .containsExactly("2027-02-01T09:00:00.250Z", "2027-02-02T10:00:00.250Z");
    assertThat(next(steps, anchor, 1)).containsExactly("2027-02-02T10:00:00.250Z");
    assertThat(next(steps, anchor.minusNanos(1), 1)).containsExactly("2027-02-01T09:00:00.250Z");
  }

  @Test
  void aRhythmHasNoHourWithoutRunsWhereTheClocksAreSetBack() {
    assertThat(Recurrence.fold(Cron.parse("*/15 * * * *"))).isEqualTo(Fold.BOTH);
    assertThat(Recurrence.fold(Cron.parse("@hourly"))).isEqualTo(Fold.BOTH);
    assertThat(Recurrence.fold(Cron.parse("0 */15 2 * * *"))).isEqualTo(Fold.FIRST);
    assertThat(Recurrence.fold(Cron.parse("@daily"))).isEqualTo(Fold.FIRST);
  }

  @Test
  void whatContradictsItselfIsRefused() {
    assertThatThrownBy(() -> bounded("@daily", "2027-02-02T00:00:00Z", "2027-02-01T00:00:00Z"))
        .hasMessage("until must not be before from, which is 2027-02-02T00:00:00Z");
    for (String every : List.of("PT0.999S", "PT1.0000001S", "P3661D", "PT-1H")) {
      assertThatThrownBy(
              () ->
                  new Recurrence(
                      null,
                      Duration.parse(every),
                      Instant.EPOCH,
                      BERLIN,
                      Gap.SHIFT,
                      Fold.FIRST,
                      null,
                      null,
                      Set.of()))
          .hasMessageStartingWith("every must be between 1s and 3660d");
    }
  }
}
