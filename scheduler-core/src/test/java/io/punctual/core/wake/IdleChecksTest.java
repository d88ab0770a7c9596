package io.punctual.core.wake;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.PriorityQueue;
import org.junit.jupiter.api.Test;

class IdleChecksTest {

  private static final long SECOND = 1_000_000_000;

  @Test
  void aFewBucketsGetWhatTheyAskFor() {
    IdleChecks checks = new IdleChecks(100);
    assertThat(checks.reserve(SECOND)).isEqualTo(SECOND);
    assertThat(checks.reserve(2 * SECOND)).isEqualTo(2 * SECOND);
  }

  @Test
  void tenThousandBucketsStayWithinTheRateAndEachGetsItsTurn() {
    IdleChecks checks = new IdleChecks(100);
    PriorityQueue<Long> turns = new PriorityQueue<>();
    for (int i = 0; i < 10_000; i++) {
      turns.add(checks.reserve(SECOND));
    }
    long first = turns.element();
    long last = 0;
    int count = 0;
    // Whoever had its turn asks for the next, a second later at the earliest.
    while (turns.element() < first + 300 * SECOND) {
      last = turns.remove();
      turns.add(checks.reserve(last + SECOND));
      count++;
    }
    assertThat(count).isEqualTo(30_000);
    assertThat(last - first).isLessThan(300 * SECOND);
  }
}
