package io.punctual.core.times;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Due;
import io.punctual.core.job.JobContent;
import io.punctual.schedule.TimeRules;
import java.time.Duration;
import java.time.Instant;
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
}
