package io.punctual.core.times;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Due;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.Opening;
import io.punctual.schedule.TimeRules;
import io.punctual.schedule.Windows;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class StartTimesTest {

  private static final long NOW = 1_764_000_000_000L;
  private static final StartTimes TIMES = new StartTimes(calendar -> Set.of());

  private static StartTimes.Placement place(String id, Due due, TimeRules rules) {
    JobContent content = JobContent.of(due).tags(List.of("order:1")).timeRules(rules).build();
    return TIMES.place(id, content, due, NOW - 10, NOW);
  }

  private static TimeRules within(@Nullable Instant notAfter, Duration within) {
    return new TimeRules(notAfter, null, within);
  }

  @Test
  void aJobWithoutRulesStaysWhereItIs() {
    assertThat(place("a", Due.in(5), TimeRules.NONE))
        .isEqualTo(new StartTimes.Placement(Due.in(5), List.of("order:1")));
  }

  @Test
  void theLastStartCountsFromTheAcceptanceOrStandsFast() {
    assertThat(StartTimes.last(new TimeRules(Instant.ofEpochMilli(7), null, null), 3)).isEqualTo(7);
    assertThat(StartTimes.last(new TimeRules(null, Duration.ofMillis(7), null), 3)).isEqualTo(10);
    assertThat(StartTimes.last(TimeRules.NONE, 3)).isEqualTo(StartTimes.NEVER);
  }

  @Test
  void theStoreFindsAJobByItsLastStart() {
    assertThat(place("a", Due.in(5), new TimeRules(null, Duration.ofMillis(1000), null)).tags())
        .containsExactly(",001764000000990", "order:1");
    assertThat(place("a", Due.at(1), within(null, Duration.ofMillis(9))).tags())
        .containsExactly("order:1");
  }

  @Test
  void theSameJobHasTheSameMoment() {
    Due at = Due.at(NOW + 1000);
    TimeRules rules = within(null, Duration.ofMinutes(5));
    Due first = place("order-1", at, rules).due();
    assertThat(place("order-1", at, rules).due()).isEqualTo(first);
    // What it was when this was written: another release has it, too.
    assertThat(first.millis() - at.millis()).isEqualTo(OFFSET_OF_ORDER_1);
    assertThat(place("order-1", Due.in(1000), rules).due())
        .isEqualTo(Due.in(1000 + OFFSET_OF_ORDER_1));
    assertThat(place("order-2", at, rules).due()).isNotEqualTo(first);
  }

  private static final long OFFSET_OF_ORDER_1 = 260_458;

  @Test
  void noMomentIsEarlyOrLateAndAllAreUsed() {
    int[] hits = new int[10];
    for (int i = 0; i < 10_000; i++) {
      Due due = place("order-" + i, Due.at(NOW), within(null, Duration.ofMillis(9))).due();
      hits[(int) (due.millis() - NOW)]++;
    }
    assertThat(Arrays.stream(hits).boxed())
        .allSatisfy(count -> assertThat(count).isBetween(850, 1150));
    for (int i = 0; i < 1000; i++) {
      long longest = Duration.ofDays(30).toMillis();
      Due due = place("" + i, Due.at(NOW), within(null, Duration.ofDays(30))).due();
      assertThat(due.millis()).isBetween(NOW, NOW + longest);
    }
  }

  @Test
  void aMomentIsNeverPastTheLastStart() {
    Instant last = Instant.ofEpochMilli(NOW + 3);
    for (int i = 0; i < 100; i++) {
      TimeRules rules = within(last, Duration.ofHours(1));
      assertThat(place("" + i, Due.at(NOW), rules).due().millis()).isBetween(NOW, NOW + 3);
      assertThat(place("" + i, Due.in(1), rules).due().millis()).isBetween(1L, 3L);
      // Too late already.
      assertThat(place("" + i, Due.at(NOW + 9), rules).due()).isEqualTo(Due.at(NOW + 9));
    }
  }

  private static Opening opening(@Nullable String window, String moment, LocalDate... closed) {
    TimeRules hours =
        new TimeRules(
            null,
            null,
            null,
            window == null ? null : Windows.parse(window),
            null,
            closed.length == 0 ? null : "holidays");
    return new StartTimes(name -> Set.of(closed)).opening(hours, millis(moment));
  }

  private static long millis(String moment) {
    return Instant.parse(moment).toEpochMilli();
  }

  @Test
  void anOpeningIsGoodUntilItEndsAndTheNextOneUntilItBegins() {
    long now = millis("2026-11-27T10:00:00Z");
    long from = millis("2026-11-27T09:00:00Z");
    long to = millis("2026-11-27T20:00:00Z");
    assertThat(opening("Mon-Fri 09:00-20:00", "2026-11-27T10:00:00Z"))
        .isEqualTo(new Opening(from, to, now, to));
    long early = millis("2026-11-27T08:00:00Z");
    assertThat(opening("Mon-Fri 09:00-20:00", "2026-11-27T08:00:00Z"))
        .isEqualTo(new Opening(from, to, early, from));
  }

  @Test
  void openingsThatTouchAreOne() {
    // 2026-11-27 is a Friday; the next day is closed, and so was the Tuesday before.
    Opening opening =
        opening(
            null,
            "2026-11-27T10:00:00Z",
            LocalDate.parse("2026-11-24"),
            LocalDate.parse("2026-11-28"));
    assertThat(opening.from()).isEqualTo(millis("2026-11-25T00:00:00Z"));
    assertThat(opening.to()).isEqualTo(millis("2026-11-28T00:00:00Z"));
    // Not where nothing is open yet.
    assertThat(opening("Sat-Sun 00:00-24:00", "2026-11-27T10:00:00Z").from())
        .isEqualTo(millis("2026-11-28T00:00:00Z"));
    assertThat(opening("Sat-Sun 00:00-24:00", "2026-11-29T10:00:00Z").from())
        .isEqualTo(millis("2026-11-28T00:00:00Z"));
    // Open at all times: for ten days, or more.
    assertThat(opening("00:00-24:00", "2026-11-27T10:00:00Z").from())
        .isEqualTo(millis("2026-11-17T00:00:00Z"));
  }
}
