package io.punctual.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PlotTest {

  @Test
  void equalFactorsAreEquallyFarApartOnALogarithmicAxis() {
    String svg =
        new Plot("title", "x", Plot.Axis.LOGARITHMIC, "y", Plot.Axis.LINEAR)
            .add("a < b", new double[] {1, 10, 100}, new double[] {0, 50, 100})
            .svg();

    assertThat(svg).contains("points=\"70.0,390.0 330.0,").contains(" 590.0,").contains("a &lt; b");
  }

  @Test
  void theTailOfPercentilesIsStretched() {
    String svg =
        new Plot("title", "percentile", Plot.Axis.TAIL, "ms", Plot.Axis.LOGARITHMIC)
            .add("curve", new double[] {0, 90, 99}, new double[] {1, 10, 100})
            .svg();

    assertThat(svg).contains("points=\"70.0,390.0 330.0,215.0 590.0,40.0\"");
  }
}
