package io.punctual.server.console;

import io.punctual.server.history.Mark;
import io.punctual.server.history.Past;
import io.punctual.server.history.Span;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The past as a drawing. Its strips share one time axis; places on it are percents of the width, as
 * texts, since the drawing is as wide as there is room.
 */
final class Timeline {

  /** The height of a strip's lines, px; above them its name has its place. */
  private static final int HEIGHT = 90;

  private static final int STEP = 124;
  private static final int TOP = 34;
  private static final int MARKS = 50;
  private static final int NEWEST = 8;
  private static final double HOUR_MS = 3_600_000;
  private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm", Locale.ROOT);

  /**
   * A place on an axis.
   *
   * @param at percent of the width, or px from the top
   */
  record Tick(String at, String label) {}

  /**
   * A line of a strip.
   *
   * @param name of what it shows, its class
   * @param dashes how it looks, in a word's place
   * @param parts points of its parts, between which nothing is known, in 1000 × 100 units
   */
  record Line(String name, String dashes, List<String> parts) {}

  /** A part of the drawing, with its scale. */
  record Strip(String name, int top, List<Tick> ticks, List<Line> lines) {}

  /** A time in which nothing was sampled. */
  record Band(String from, String width) {}

  /** A mark, with its sign. */
  record Flag(String at, String sign, Mark mark) {}

  /** A row of the table behind the drawing; figures are null for a gap. */
  record Row(String time, Past.@Nullable Figures figures) {}

  private final Past past;
  private final ZoneId zone;
  private final List<Past.Interval> intervals;

  Timeline(Past past, ZoneId zone) {
    this.past = past;
    this.zone = zone;
    this.intervals = past.intervals(past.span().width());
  }

  public Past getPast() {
    return past;
  }

  /** Returns the height of all strips, px. */
  public int getHeight() {
    return TOP + 2 * STEP + HEIGHT;
  }

  /** Returns the height of one strip, px. */
  public int getStripHeight() {
    return HEIGHT;
  }

  /** Returns what is drawn. */
  public List<Strip> getStrips() {
    double rates = top(Past.Figures::submitted, Past.Figures::done, Past.Figures::failed);
    double jobs = Math.max(2, top(f -> (double) f.ready(), f -> (double) f.reserved()));
    return List.of(
        new Strip(
            "rates",
            TOP,
            even(0, rates),
            List.of(
                line("done", "—", Past.Figures::done, rates),
                line("submitted", "- -", Past.Figures::submitted, rates),
                line("failed", "···", Past.Figures::failed, rates))),
        new Strip(
            "waiting",
            TOP + STEP,
            even(1, jobs),
            List.of(
                line("ready", "—", f -> (double) f.ready(), jobs),
                line("reserved", "- -", f -> (double) f.reserved(), jobs))),
        new Strip(
            "lateness",
            TOP + 2 * STEP,
            Stream.of("10 ms", "1 s", "1 min", "1 h")
                .map(label -> new Tick(place(2, log(milliseconds(label))), label))
                .toList(),
            List.of(
                line("p50", "—", f -> f.p50() == null ? null : log(f.p50()), 1),
                line("p99", "- -", f -> f.p99() == null ? null : log(f.p99()), 1))));
  }

  private static double milliseconds(String label) {
    return switch (label) {
      case "10 ms" -> 10;
      case "1 s" -> 1_000;
      case "1 min" -> 60_000;
      default -> HOUR_MS;
    };
  }

  /** Where a lateness is, of 1: each factor of ten has the same height. */
  private static double log(double ms) {
    return Math.log10(Math.clamp(ms, 1, HOUR_MS)) / Math.log10(HOUR_MS);
  }

  private static String place(int strip, double share) {
    return Long.toString(TOP + strip * STEP + Math.round(HEIGHT * (1 - share)));
  }

  private static List<Tick> even(int strip, double top) {
    return even(TOP + strip * STEP, HEIGHT, top);
  }

  /**
   * Returns the highest number of an axis and half of it.
   *
   * @param from px from the top at which the axis begins
   * @param height px
   */
  static List<Tick> even(int from, int height, double top) {
    return List.of(
        new Tick(Integer.toString(from), number(top)),
        new Tick(Integer.toString(from + height / 2), number(top / 2)));
  }

  private static String number(double value) {
    return value == Math.rint(value)
        ? String.format(Locale.ROOT, "%,d", (long) value)
        : String.format(Locale.ROOT, "%.1f", value);
  }

  @SafeVarargs
  private final double top(Function<Past.Figures, Double>... of) {
    double most = 0;
    for (Past.Interval interval : intervals) {
      for (Function<Past.Figures, Double> figure : of) {
        most = Math.max(most, interval.figures() == null ? 0 : figure.apply(interval.figures()));
      }
    }
    return round(most);
  }

  /** The next 1, 2 or 5 with zeros behind it. */
  static double round(double most) {
    double unit = 1;
    while (unit * 10 < most) {
      unit *= 10;
    }
    return most <= unit
        ? unit
        : most <= 2 * unit ? 2 * unit : most <= 5 * unit ? 5 * unit : 10 * unit;
  }

  // Steps: what an interval had, it had from its beginning to its end.
  private Line line(
      String name, String dashes, Function<Past.Figures, @Nullable Double> of, double top) {
    List<String> parts = new ArrayList<>();
    StringBuilder part = new StringBuilder();
    String last = "";
    for (Past.Interval interval : intervals) {
      Past.Figures figures = interval.figures();
      Double value = figures == null ? null : of.apply(figures);
      if (value == null) {
        if (!part.isEmpty()) {
          parts.add(part.toString().strip());
        }
        part.setLength(0);
        continue;
      }
      String y = String.format(Locale.ROOT, "%.0f", 100 * (1 - value / top));
      // What is as high as before only makes the line longer.
      if (y.equals(last) && !part.isEmpty()) {
        part.setLength(part.lastIndexOf(" "));
      } else {
        part.append(point(interval.from(), y));
      }
      part.append(point(interval.until(), y));
      last = y;
    }
    if (!part.isEmpty()) {
      parts.add(part.toString().strip());
    }
    return new Line(name, dashes, parts);
  }

  private String point(long at, String y) {
    return String.format(Locale.ROOT, " %.0f,%s", 10 * percent(at), y);
  }

  private double percent(long at) {
    return 100.0 * (at - past.from()) / past.span().length().toMillis();
  }

  private static String text(double percent) {
    return String.format(Locale.ROOT, "%.2f%%", percent);
  }

  /** Returns the times in which nothing was sampled. */
  public List<Band> getGaps() {
    return past.gaps().stream()
        .map(
            gap ->
                new Band(
                    text(percent(gap.from())), text(percent(gap.until()) - percent(gap.from()))))
        .toList();
  }

  /** Returns the newest marks, oldest first. */
  public List<Flag> getFlags() {
    List<Mark> marks = past.marks();
    return marks.subList(Math.max(0, marks.size() - MARKS), marks.size()).stream()
        .map(mark -> new Flag(text(Math.min(100, percent(mark.at()))), sign(mark.kind()), mark))
        .toList();
  }

  /** Returns the last of the marks, newest first. */
  public List<Flag> getNewest() {
    List<Flag> all = getFlags().reversed();
    return all.subList(0, Math.min(NEWEST, all.size()));
  }

  private static String sign(Mark.Kind kind) {
    return switch (kind) {
      case START -> "▲";
      case PAUSE -> "‖";
      case RESUME -> "▶";
      case BULK -> "■";
      case RELEASE -> "◆";
    };
  }

  /** Returns round times of the viewer's zone, not too near to the ends. */
  public List<Tick> getTimes() {
    Duration step =
        switch (past.span()) {
          case QUARTER -> Duration.ofMinutes(5);
          case HOUR -> Duration.ofMinutes(10);
          case SIX_HOURS -> Duration.ofHours(1);
          case DAY -> Duration.ofHours(4);
        };
    List<Tick> times = new ArrayList<>();
    ZonedDateTime time =
        Instant.ofEpochMilli(past.from()).atZone(zone).truncatedTo(ChronoUnit.DAYS);
    for (; time.toInstant().toEpochMilli() < past.until(); time = time.plus(step)) {
      double percent = percent(time.toInstant().toEpochMilli());
      if (percent > 3 && percent < 97) {
        times.add(new Tick(text(percent), CLOCK.format(time)));
      }
    }
    return times;
  }

  /** Returns the time of the clock in the viewer's zone. */
  public String clock(long at) {
    return CLOCK.format(Instant.ofEpochMilli(at).atZone(zone));
  }

  /** Returns the rows of the table, newest first. */
  public List<Row> getRows() {
    Duration length =
        switch (past.span()) {
          case QUARTER -> Duration.ofMinutes(1);
          case HOUR -> Duration.ofMinutes(5);
          case SIX_HOURS -> Duration.ofMinutes(30);
          case DAY -> Duration.ofHours(1);
        };
    return past.intervals(length).reversed().stream()
        .map(
            interval ->
                new Row(
                    clock(interval.from()) + " – " + clock(interval.until()), interval.figures()))
        .toList();
  }

  /** Returns the spans that can be chosen. */
  public List<Span> getSpans() {
    return List.of(Span.values());
  }
}
