package io.punctual.core.wake;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.PriorityQueue;
import org.junit.jupiter.api.Test;

class IdleChecksTest {

  private static final long SECOND = 1_000_000_000;

  @Test
  void aFewBucketsGetWhatTheyAskFor() {
    IdleChecks checks = new IdleChecks(100);
    assertThat(checks.reserve(SECOND, 1)).isEqualTo(SECOND);
    assertThat(checks.reserve(2 * SECOND, 1)).isEqualTo(2 * SECOND);
  }

  @Test
  void severalEnginesStayWithinTheRateTogether() {
    IdleChecks checks = new IdleChecks(10);
    for (int i = 0; i < 10; i++) {
      assertThat(checks.reserve(SECOND, 4)).isEqualTo(SECOND);
    }
    assertThat(checks.reserve(SECOND, 4)).isEqualTo(5 * SECOND);
  }

  @Test
  void momentsThatSuitedMoreEnginesAreForgotten() {
    IdleChecks checks = new IdleChecks(10);
    for (int i = 0; i < 100; i++) {
      checks.reserve(SECOND, 10);
    }
    assertThat(checks.reserve(SECOND, 1)).isEqualTo(SECOND);
  }

  @Test
  void tenThousandBucketsStayWithinTheRateAndEachGetsItsTurn() {
    IdleChecks checks = new IdleChecks(100);
    PriorityQueue<Long> turns = new PriorityQueue<>();
    for (int i = 0; i < 10_000; i++) {
      turns.add(checks.reserve(SECOND, 1));
    }
    long first = turns.element();
    long last = 0;
    int count = 0;
    // Whoever had its turn asks for the next, a second later at the earliest.
    while (turns.element() < first + 300 * SECOND) {
      last = turns.remove();
      turns.add(checks.reserve(last + SECOND, 1));
      count++;
    }
    assertThat(count).isEqualTo(30_000);
    assertThat(last - first).isLessThan(300 * SECOND);
  }
}
