package io.punctual.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class DistributionTest {

  private static final Distribution HUNDRED =
      new Distribution(LongStream.rangeClosed(1, 100).map(n -> n * 1000).boxed().toList());

  @Test
  void aPercentileIsTheNearestRank() {
    assertThat(HUNDRED.minMillis()).isEqualTo(1);
    assertThat(HUNDRED.percentileMillis(50)).isEqualTo(50);
    assertThat(HUNDRED.percentileMillis(99)).isEqualTo(99);
    assertThat(HUNDRED.percentileMillis(100)).isEqualTo(100);
    assertThat(HUNDRED.maxMillis()).isEqualTo(100);
  }

  @Test
  void oneValueIsItsOwnDistribution() {
    Distribution one = new Distribution(List.of(2500L));

    assertThat(one.percentileMillis(50)).isEqualTo(2.5);
    assertThat(one.percentileMillis(99)).isEqualTo(2.5);
  }

  @Test
  void theHistogramCountsEachValueOnce() {
    assertThat(HUNDRED.histogram().lines().map(line -> line.substring(10, 17).strip()))
        .containsExactly("1", "1", "1", "2", "5", "10", "30", "50", "0", "0");
  }

  @Test
  void nothingMeasuredIsAnErrorNotAZero() {
    assertThatThrownBy(() -> new Distribution(List.of()))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
