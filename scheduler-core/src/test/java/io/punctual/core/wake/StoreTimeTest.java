package io.punctual.core.wake;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class StoreTimeTest {

  private static final long MS = 1_000_000;
  private final StoreTime time = new StoreTime();

  @Test
  void itIsNeverEarlyAndLateByNoMoreThanTheQuickestWayBack() {
    // The store is 5,000,000.25 ms ahead; its answers take 0.2 to 40 ms each way.
    Random random = new Random(42);
    long ahead = 5_000_000 * MS + MS / 4;
    long now = 0;
    for (int i = 0; i < 1_000; i++) {
      now += random.nextLong(20 * MS);
      long there = now + MS / 5 + random.nextLong(40 * MS);
      long back = there + MS / 5 + random.nextLong(40 * MS);
      time.sample(now, back, (there + ahead) / MS);
      now = back;
      long due = (now + ahead) / MS + 100;
      long truth = due * MS - ahead;
      assertThat(time.at(due)).isGreaterThanOrEqualTo(truth);
      if (i > 200) {
        assertThat(time.at(due) - truth).isLessThan(8 * MS);
      }
    }
  }

  @Test
  void aClockThatWasSetBackIsFollowed() {
    time.sample(0, MS, 10_000);
    time.sample(1000 * MS, 1001 * MS, 6_000);
    assertThat(time.at(6_100)).isEqualTo(1101 * MS);
  }

  @Test
  void aClockThatWasSetForwardIsFollowed() {
    time.sample(0, MS, 10_000);
    time.sample(1000 * MS, 1001 * MS, 60_000);
    assertThat(time.at(60_100)).isEqualTo(1101 * MS);
  }

  @Test
  void theYear9999DoesNotOverflow() {
    time.sample(0, MS, 1_700_000_000_000L);
    assertThat(time.at(253_402_300_799_999L)).isBetween(0L, 25 * 3_600_000L * MS);
  }

  @Test
  void whatHasPassedIsNow() {
    time.sample(0, MS, 10_000);
    assertThat(time.at(9_000)).isEqualTo(MS);
  }

  /**
   * Answers that take 1 to 200 ms each way, a second apart, from a clock that is set in between.
   */
  private long set(long millis, Random random) {
    StoreTime time = new StoreTime();
    long offset = 0;
    long now = 0;
    long set = 0;
    for (int i = 0; i < 100; i++) {
      now += 1_000 * MS;
      offset += i == 50 ? millis : 0;
      long there = now + MS + random.nextLong(200 * MS);
      long back = there + MS + random.nextLong(200 * MS);
      long step = time.sample(now, back, there / MS + 5_000 + offset);
      assertThat(step != 0).isEqualTo(i == 50 && millis != 0);
      set += step;
      now = back;
      if (i == 50 && millis > 0) {
        // No lease of before may end early, and none of after may be taken for one of before.
        assertThat(time.jump().millis()).isBetween(millis, millis + 405);
        assertThat(time.jump().before())
            .isGreaterThan((there / MS) + 5_000)
            .isLessThanOrEqualTo(there / MS + 5_000 + 405 + 1);
      }
    }
    return set;
  }

  @Test
  void slowAnswersAreNotTakenForAClockThatWasSet() {
    for (int seed = 0; seed < 50; seed++) {
      assertThat(set(0, new Random(seed))).isZero();
    }
  }

  @Test
  void byHowMuchTheClockWasSetIsKnownButForTheTimeOfAnAnswer() {
    for (int seed = 0; seed < 50; seed++) {
      assertThat(set(90_000, new Random(seed))).isBetween(90_000L - 405, 90_000L);
      assertThat(set(-90_000, new Random(seed))).isBetween(-90_000L, -90_000L + 405);
    }
  }
}
