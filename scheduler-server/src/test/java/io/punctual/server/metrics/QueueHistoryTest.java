package io.punctual.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.punctual.core.QueueStats;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.schedule.TimeRules;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class QueueHistoryTest {

  private static final long START = 1_000_000;

  private final QueueHistory history = new QueueHistory();
  private final long begin = System.nanoTime();
  private long lookedAt;

  private static QueueStats stats(long now, long done, long failed, @Nullable String damage) {
    return stats(now, done, failed, 0, damage);
  }

  private static QueueStats stats(
      long now, long done, long failed, long reserved, @Nullable String damage) {
    return new QueueStats(
        new QueueName("shop", "a"),
        1,
        now,
        5,
        5,
        reserved,
        0,
        now - 6_000,
        null,
        true,
        List.of(),
        Throttle.NONE,
        false,
        TimeRules.NONE,
        null,
        null,
        Map.of("done", done, "failed", failed),
        null,
        0,
        damage);
  }

  /** The monotonic time so long after the start. */
  private long ns(long ms) {
    return begin + TimeUnit.MILLISECONDS.toNanos(ms);
  }

  private QueueSample look(long after, long done, long failed, int instances) {
    return history.add(
        stats(START + after, done, failed, null), ns(after), instances, false, false, null, null);
  }

  @Test
  void theFirstLookKnowsNoRates() {
    QueueSample first = look(0, 100, 10, 1);

    assertThat(first.minute()).isEqualTo(Growth.NONE);
    assertThat(first.attempts().ended()).isZero();
    assertThat(history.last()).isSameAs(first);
  }

  @Test
  void anEmptiedRedisMakesNoFailingQueue() {
    look(0, 1_000_000, 0, 1);
    QueueSample after = look(30_000, 500, 25, 1);

    assertThat(after.minute()).isEqualTo(Growth.NONE);
    QueueSample later = look(40_000, 980, 45, 1);
    assertThat(later.attempts()).isEqualTo(new QueueSample.Attempts(500, 20, 1));
    assertThat(later.attempts().failedPercent()).isEqualTo(4);
  }

  @Test
  void aClockThatIsSetBackBeginsAnew() {
    look(3_600_000, 100, 0, 0);
    assertThat(look(3_610_000, 110, 0, 0).pulled()).isTrue();

    assertThat(look(0, 110, 0, 0).pulled()).isFalse();
    assertThat(look(10_000, 150, 0, 1).minute().ms()).isEqualTo(10_000);
  }

  @Test
  void growthIsThatOfTheLastMinuteAndOfTheLastLook() {
    look(0, 100, 10, 1);
    look(10_000, 130, 20, 1);
    QueueSample sample = look(20_000, 170, 20, 1);

    assertThat(sample.minute().ms()).isEqualTo(20_000);
    assertThat(sample.attempts()).isEqualTo(new QueueSample.Attempts(80, 10, 1));
    assertThat(sample.attempts().failedPercent()).isEqualTo(12);
    assertThat(sample.rate("done")).isEqualTo(4.0);
    // What is older than a minute counts no more, unless that leaves too few to judge by.
    assertThat(look(90_000, 170, 20, 1).attempts()).isEqualTo(new QueueSample.Attempts(80, 10, 15));
    assertThat(look(160_000, 190, 20, 1).attempts()).isEqualTo(new QueueSample.Attempts(20, 0, 1));
  }

  @Test
  void aQueueWithFewAttemptsAMinuteIsJudgedByAQuarterOfAnHour() {
    for (int minute = 0; minute < 10; minute++) {
      look(minute * 60_000L, minute * 2L, minute * 2L, 1);
    }
    QueueSample sample = look(600_000, 20, 20, 1);

    assertThat(sample.attempts()).isEqualTo(new QueueSample.Attempts(40, 20, 15));
    assertThat(sample.failing()).isTrue();
    for (int minute = 11; minute < 30; minute++) {
      sample = look(minute * 60_000L, minute * 2L, 20, 1);
    }
    assertThat(sample.attempts().failed()).isZero();
    assertThat(sample.failing()).isFalse();
  }

  @Test
  void looksThatComeTooSoonChangeNoRate() {
    look(0, 0, 0, 1);
    look(2_000, 20, 0, 1);
    QueueSample soon = look(2_100, 30, 0, 1);

    assertThat(soon.recent().ms()).isEqualTo(2_100);
    assertThat(soon.rate("done")).isCloseTo(14.29, within(0.01));
  }

  @Test
  void ofALongGapNoRateIsTold() {
    look(0, 0, 0, 1);
    assertThat(look(300_001, 1_000, 0, 1).minute()).isEqualTo(Growth.NONE);
  }

  @Test
  void whatEndsWithoutAnInstanceIsPulledElsewhere() {
    look(0, 0, 0, 0);
    QueueSample pulled = look(5_000, 49, 0, 0);

    assertThat(pulled.pulled()).isTrue();
    assertThat(pulled.parked()).isFalse();
    assertThat(look(65_000, 49, 0, 0).parked()).isTrue();
  }

  @Test
  void attemptsThatFailWithoutAnInstanceArePulledElsewhere() {
    look(0, 0, 0, 0);
    assertThat(look(5_000, 0, 49, 0).pulled()).isTrue();
  }

  @Test
  void whatAWorkerHasWithoutAnInstanceIsPulledElsewhere() {
    assertThat(
            history.add(stats(START, 0, 0, 1, null), ns(0), 0, false, false, null, null).parked())
        .isFalse();
    assertThat(
            history.add(stats(START, 0, 0, 1, null), ns(0), 1, false, false, null, null).parked())
        .isTrue();
  }

  @Test
  void theEndsOfAnInstanceThatLeftAreNoPull() {
    look(0, 0, 0, 1);
    assertThat(look(5_000, 49, 0, 0).parked()).isTrue();
  }

  @Test
  void aDamagedQueueHasNoRates() {
    look(0, 0, 0, 1);
    QueueSample damaged =
        history.add(stats(START + 5_000, 9, 0, "a string"), ns(5_000), 1, false, false, null, null);

    assertThat(damaged.minute()).isEqualTo(Growth.NONE);
    assertThat(look(10_000, 50, 0, 1).minute()).isEqualTo(Growth.NONE);
  }

  private static QueueStats resting(long now, @Nullable Long nextDue, long deadInHour) {
    return new QueueStats(
        new QueueName("shop", "a"),
        1,
        now,
        1,
        0,
        0,
        deadInHour,
        null,
        nextDue,
        false,
        List.of(),
        Throttle.NONE,
        false,
        TimeRules.NONE,
        null,
        null,
        Map.of("done", 0L, "failed", 0L),
        null,
        deadInHour,
        null);
  }

  private void rest(@Nullable Long nextDue, @Nullable String stamp) {
    lookedAt++;
    var unused =
        history.add(
            resting(START + lookedAt, nextDue, 0), ns(lookedAt), 1, false, false, null, stamp);
  }

  private boolean hasChanged(String stamp, int instances) {
    return history.hasChanged(START + 5_000, ns(0), stamp, instances, false, false, null);
  }

  @Test
  void aQueueThatRestsIsLookedAtAgainOnlyOnceItsStampIsAnotherOne() {
    assertThat(hasChanged("one", 1)).isTrue();
    rest(START + 3_600_000, "one");

    assertThat(history.rests(System.nanoTime())).isTrue();
    assertThat(hasChanged("one", 1)).isFalse();
    assertThat(hasChanged("two", 1)).isTrue();
    rest(START + 3_600_000, "two");
    assertThat(hasChanged("two", 1)).isFalse();
    assertThat(hasChanged("two", 2)).isTrue();
    assertThat(hasChanged("", 1)).isTrue();
  }

  @Test
  void aLookThatFailsIsMadeUpFor() {
    rest(START + 3_600_000, "one");

    assertThat(hasChanged("two", 1)).isTrue();
    assertThat(hasChanged("two", 1)).isTrue();
  }

  @Test
  void anOlderLookThatEndsLaterIsNotTheLast() {
    rest(START + 3_600_000, "one");
    QueueSample newer = history.latest();
    history.add(resting(START, START + 7_200_000, 0), ns(0), 1, false, false, null, "none");

    assertThat(history.latest()).isSameAs(newer);
    assertThat(hasChanged("one", 1)).isFalse();
  }

  @Test
  void aChangeBackIsSeenThoughTheStampIsTheSame() {
    rest(START + 3_600_000, "one");
    rest(START + 7_200_000, null);

    assertThat(hasChanged("one", 1)).isTrue();
  }

  @Test
  void theClocksOfOtherNodesAreNotInTheHistory() {
    rest(START + 3_600_000, "one");
    history.hasChanged(START + 60_000, ns(10_000), "one", 1, false, false, null);

    QueueSample next = look(20_000, 50, 0, 1);

    assertThat(next.recent().ms()).isEqualTo(10_000);
  }

  @Test
  void aQueueRestsNoLongerThanUntilItsNextJobIsDue() {
    rest(START, "one");
    assertThat(history.rests(System.nanoTime())).isFalse();

    rest(START + 3_600_000, "one");
    assertThat(history.rests(System.nanoTime())).isTrue();
  }

  @Test
  void aQueueIsLookedAtIfTheStoresClockWasSetForward() {
    rest(START + 3_600_000, "one");

    assertThat(history.hasChanged(START + 3_600_000, ns(0), "one", 1, false, false, null)).isTrue();
  }

  @Test
  void aQueueThatDoesSomethingDoesNotRest() {
    look(0, 100, 10, 1);
    assertThat(history.rests(System.nanoTime())).isFalse();
    history.add(stats(START + 1_000, 100, 10, 1, null), ns(0), 1, false, false, null, null);
    assertThat(history.rests(System.nanoTime())).isFalse();
    history.add(stats(START + 1_000, 100, 10, 0, "damage"), ns(0), 1, false, false, null, null);
    assertThat(history.rests(System.nanoTime())).isFalse();
  }

  @Test
  void aRateAfterARestIsOfTheTimeSinceTheLastComparison() {
    rest(null, "one");
    for (long at = 30_000; at <= 600_000; at += 30_000) {
      assertThat(history.hasChanged(START + at, ns(at), "one", 1, false, false, null)).isFalse();
    }

    QueueSample busy = look(610_000, 50, 0, 1);

    assertThat(busy.recent().ms()).isEqualTo(10_000);
    assertThat(busy.rate("done")).isEqualTo(5.0);
  }
}
