package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Throttle;
import io.punctual.core.store.query.BucketStats;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StatsIT extends TransitionTestBase {

  @Test
  void everythingIsCounted() {
    BucketState given =
        bucket()
            .delayed("a", NOW - 9)
            .delayed("b", NOW)
            .delayed("c", NOW + 3)
            .delayed("d", NOW + 4)
            .reserved("r", NOW + 5, HELD)
            .dead("x", 1)
            .dead("y", 2)
            .counted("submitted", 12)
            .counted("done", 5);
    given(given);

    assertThat(store.stats(bucket))
        .isEqualTo(
            new BucketStats(
                NOW,
                4,
                2,
                1,
                2,
                NOW - 9,
                NOW + 3,
                List.of(),
                Throttle.NONE,
                false,
                "",
                null,
                Map.of("submitted", 12L, "done", 5L),
                2L,
                2));
    then(given);
  }

  @Test
  void deathsOfTheLastHourAreCounted() {
    given(bucket().dead("x", 1).dead("y", 2).dead("z", 3));
    nowIs(3_600_002);

    assertThat(store.stats(bucket).lastDeath()).isEqualTo(3);
    assertThat(store.stats(bucket).deadInHour()).isEqualTo(2);
  }

  @Test
  void anEmptyBucketHasNothing() {
    assertThat(store.stats(bucket))
        .isEqualTo(
            new BucketStats(
                NOW,
                0,
                0,
                0,
                0,
                null,
                null,
                List.of(),
                Throttle.NONE,
                false,
                "",
                null,
                Map.of(),
                null,
                0));
    then(bucket());
  }

  @Test
  void aBucketMayHaveOnlyReadyOrOnlyWaitingJobs() {
    given(bucket().delayed("a", NOW));
    assertThat(store.stats(bucket).oldestReady()).isEqualTo(NOW);
    assertThat(store.stats(bucket).nextDue()).isNull();

    nowIs(NOW - 1);
    assertThat(store.stats(bucket).ready()).isZero();
    assertThat(store.stats(bucket).oldestReady()).isNull();
    assertThat(store.stats(bucket).nextDue()).isEqualTo(NOW);
  }
}
