package io.punctual.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class DistributionTest {

  private static final Distribution HUNDRED =
      new Distribution(LongStream.rangeClosed(1, 100).map(n -> n * 1000).toArray());

  @Test
  void aPercentileIsTheNearestRank() {
    assertThat(HUNDRED.percentileMillis(50)).isEqualTo(50);
    assertThat(HUNDRED.percentileMillis(99)).isEqualTo(99);
    assertThat(HUNDRED.percentileMillis(100)).isEqualTo(100);
    assertThat(HUNDRED.maxMillis()).isEqualTo(100);
  }

  @Test
  void aCurveEndsWhereHardlyAnyValueIsLeft() {
    assertThat(HUNDRED.curveMillis()).containsExactly(1, 25, 50, 75, 90, 95, 98);
  }

  @Test
  void oneValueIsItsOwnDistribution() {
    Distribution one = new Distribution(new long[] {2500});

    assertThat(one.percentileMillis(50)).isEqualTo(2.5);
    assertThat(one.percentileMillis(99)).isEqualTo(2.5);
  }

  @Test
  void nothingMeasuredIsAnErrorNotAZero() {
    assertThatThrownBy(() -> new Distribution(new long[0]))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
