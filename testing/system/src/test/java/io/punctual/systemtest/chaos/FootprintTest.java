package io.punctual.systemtest.chaos;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class FootprintTest {

  private static final Footprint WARM = new Footprint(40_000_000, 40, 100, 150);

  @Test
  void aLittleMoreOrAnyLessIsNoLeak() {
    assertThatCode(() -> new Footprint(60_000_000, 60, 150, 200).judge(WARM))
        .doesNotThrowAnyException();
    assertThatCode(() -> new Footprint(1, 1, 0, 1).judge(WARM)).doesNotThrowAnyException();
  }

  @Test
  void eachOfTheFiguresAloneIsALeak() {
    assertThatThrownBy(() -> new Footprint(80_000_000, 40, 100, 150).judge(WARM))
        .hasMessageContaining("heap");
    assertThatThrownBy(() -> new Footprint(40_000_000, 90, 100, 150).judge(WARM))
        .hasMessageContaining("threads");
    assertThatThrownBy(() -> new Footprint(40_000_000, 40, 400, 150).judge(WARM))
        .hasMessageContaining("virtual threads");
    assertThatThrownBy(() -> new Footprint(40_000_000, 40, 100, 400).judge(WARM))
        .hasMessageContaining("open files");
  }
}
