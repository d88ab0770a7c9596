package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.store.query.Forecast;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ForecastIT extends TransitionTestBase {

  @Test
  void everyJobIsInOneInterval() {
    BucketState given =
        bucket()
            .delayed("past", 5)
            .delayed("now", NOW)
            .delayed("soon", NOW + 1)
            .delayed("end", NOW + 100)
            .delayed("next", NOW + 101)
            .delayed("later", NOW + 300)
            .delayed("beyond", NOW + 301)
            .reserved("r", NOW + 50, HELD)
            .dead("d", NOW + 50);
    given(given);

    assertThat(store.forecast(bucket, Duration.ofMillis(100), 3))
        .isEqualTo(new Forecast(NOW, 2, List.of(2L, 1L, 1L)));
    then(given);
  }
}
