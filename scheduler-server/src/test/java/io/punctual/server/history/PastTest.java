package io.punctual.server.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PastTest {

  private static final long END = 1_800_000_000_000L;

  /** Done are so many jobs in the ten seconds up to so many seconds before the end. */
  private static Point point(long secondsBefore, long done) {
    return new Point(END - secondsBefore * 1_000, 10_000, done, done, 0, 0, 5, 3, 1, null, 40L);
  }

  private static Past past(Point... points) {
    return new Past(Span.QUARTER, END, List.of(points), List.of(), 0);
  }

  @Test
  void whatNoSchedulerSampledIsAGapAndNoZero() {
    Past past = past(point(30, 100), point(10, 50), point(0, 20));

    List<Past.Interval> intervals = past.intervals(Span.QUARTER.width());
    assertThat(intervals).hasSize(90);
    assertThat(intervals.subList(0, 86)).allMatch(interval -> interval.figures() == null);
    assertThat(intervals.get(86).figures())
        .isEqualTo(new Past.Figures(10, 10, 0, 0, 5, 3, 1, null, 40L));
    assertThat(intervals.get(87).figures()).isNull();
    assertThat(intervals.get(89).figures()).extracting(Past.Figures::done).isEqualTo(2.0);
    assertThat(past.gaps())
        .containsExactly(
            new Past.Gap(END - 900_000, END - 40_000), new Past.Gap(END - 30_000, END - 20_000));
    assertThat(past.done()).isEqualTo(170);
  }

  @Test
  void aPointCountsInEachIntervalByItsPart() {
    Past past = past(point(5, 100));

    List<Past.Interval> intervals = past.intervals(Span.QUARTER.width());
    // Half of each of the last two was sampled, at ten jobs a second.
    assertThat(intervals.subList(88, 90))
        .allSatisfy(
            interval ->
                assertThat(interval.figures()).extracting(Past.Figures::done).isEqualTo(10.0));
  }

  @Test
  void theMostThatWasDoneIsOfASlidingTime() {
    Point[] busyForAMinute =
        IntStream.rangeClosed(0, 20)
            .mapToObj(i -> point(200 - i * 10L, i >= 7 && i < 13 ? 100 : 1))
            .toArray(Point[]::new);
    Past past = past(busyForAMinute);

    assertThat(past.most(60_000)).isEqualTo(OptionalLong.of(600));
    assertThat(past.most(5_000)).isEqualTo(OptionalLong.of(50));
    assertThat(past.most(70_000)).isEqualTo(OptionalLong.of(601));
    assertThat(past.most(3_600_000)).as("less was sampled").isEqualTo(OptionalLong.empty());
    assertThat(past().most(60_000)).isEqualTo(OptionalLong.empty());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "foreign",
        "1800000000000 10000 1 2 3 4 5 6 7 8",
        "1800000000000 0 1 2 3 4 5 6 7 - -",
        "1800000000000 10000 1 2 -3 4 5 6 7 - -",
        "1800000000000 10000 1 - 3 4 5 6 7 - -",
        "1800000000000 99999999999 1 2 3 4 5 6 7 - -",
        "5 10000 1 2 3 4 5 6 7 - -",
        "1800000000000 10000 1 2 3 4 5 6 7 - 9999999999999999",
        "١٨٠٠٠٠٠٠٠٠٠٠٠ 10000 1 2 3 4 5 6 7 - -"
      })
  void otherTextsAreNoPoints(String text) {
    assertThat(Point.parse(text)).isNull();
  }

  @Test
  void pointsAndMarksAreReadAsTheyWereWritten() {
    Point point = new Point(END, 10_007, 1, 2, 3, 4, 5, 6, 7, null, 25L);
    assertThat(point.text()).isEqualTo("1800000000000 10007 1 2 3 4 5 6 7 - 25");
    assertThat(Point.parse(point.text())).isEqualTo(point);
    assertThat(Point.parse(point.text() + " 8 9")).as("of a later version").isEqualTo(point);

    Mark mark = new Mark(END, Mark.Kind.BULK, "requeue app:shop\u202E\n state:dead");
    assertThat(Mark.parse(mark.stored())).isEqualTo(mark);
    assertThat(mark.stored()).isEqualTo("1800000000000 bulk requeue app:shop?? state:dead");
    assertThat(new Mark(END, Mark.Kind.PAUSE, "x".repeat(500)).text()).hasSize(120);
    assertThat(Mark.parse("1800000000000 unheard of")).isNull();
  }
}
