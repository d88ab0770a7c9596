package io.punctual.benchmark;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Curves as an SVG picture. */
final class Plot {

  private static final int WIDTH = 800;
  private static final int HEIGHT = 440;
  private static final int LEFT = 70;
  private static final int RIGHT = 210;
  private static final int TOP = 40;
  private static final int BOTTOM = 50;
  // Told apart by people who do not see all colours.
  private static final List<String> COLOURS =
      List.of(
          "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31",
          "#7f7f7f", "#6a3d9a", "#b15928");

  /** How values become places. */
  enum Axis {
    /** From 0 on. */
    LINEAR,
    /** Each decade as wide as the others; positive values only. */
    LOGARITHMIC,
    /** Percentiles, of which 90, 99 and 99.9 are equally far apart. */
    TAIL;

    private double place(double value) {
      return switch (this) {
        case LINEAR -> value;
        case LOGARITHMIC -> Math.log10(value);
        case TAIL -> -Math.log10(1 - value / 100);
      };
    }

    private double[] ticks(double from, double to) {
      List<Double> ticks = new ArrayList<>();
      switch (this) {
        case LINEAR -> {
          double step = Math.pow(10, Math.floor(Math.log10(to)));
          step = to / step < 2 ? step / 5 : to / step < 5 ? step / 2 : step;
          for (double tick = 0; tick <= to * 1.0001; tick += step) {
            ticks.add(tick);
          }
        }
        case LOGARITHMIC -> {
          for (int power = (int) Math.floor(Math.log10(from)); Math.pow(10, power) <= to; power++) {
            ticks.add(Math.pow(10, power));
          }
        }
        case TAIL -> ticks.addAll(List.of(0.0, 50.0, 90.0, 99.0, 99.9, 99.99));
      }
      return ticks.stream()
          .mapToDouble(Double::doubleValue)
          .filter(tick -> tick >= from && tick <= to)
          .toArray();
    }
  }

  private record Curve(String name, double[] x, double[] y) {}

  private final String title;
  private final String xTitle;
  private final String yTitle;
  private final Axis xAxis;
  private final Axis yAxis;
  private final List<Curve> curves = new ArrayList<>();

  Plot(String title, String xTitle, Axis xAxis, String yTitle, Axis yAxis) {
    this.title = title;
    this.xTitle = xTitle;
    this.yTitle = yTitle;
    this.xAxis = xAxis;
    this.yAxis = yAxis;
  }

  /** Adds a curve; its name stands beside it in the order in which curves were added. */
  Plot add(String name, double[] x, double[] y) {
    curves.add(new Curve(name, x, y));
    return this;
  }

  String title() {
    return title;
  }

  boolean isEmpty() {
    return curves.isEmpty();
  }

  String svg() {
    double[] xs = curves.stream().flatMapToDouble(curve -> Arrays.stream(curve.x)).toArray();
    double[] ys = curves.stream().flatMapToDouble(curve -> Arrays.stream(curve.y)).toArray();
    Scale x = new Scale(xAxis, xs, LEFT, WIDTH - RIGHT);
    Scale y = new Scale(yAxis, ys, HEIGHT - BOTTOM, TOP);
    StringBuilder svg = new StringBuilder();
    add(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%1$d\""
            + " height=\"%2$d\" font-family=\"sans-serif\" font-size=\"12\">",
        WIDTH,
        HEIGHT);
    add(svg, "<title>%s</title>", escaped(title));
    add(svg, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>");
    text(svg, LEFT, 24, "start\" font-size=\"15", title);
    text(svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12, "middle", xTitle);
    add(
        svg,
        "<text transform=\"translate(16 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>",
        (TOP + HEIGHT - BOTTOM) / 2,
        escaped(yTitle));
    for (double tick : xAxis.ticks(x.from, x.to)) {
      line(svg, x.at(tick), TOP, x.at(tick), HEIGHT - BOTTOM);
      text(svg, x.at(tick), HEIGHT - BOTTOM + 18, "middle", number(tick));
    }
    for (double tick : yAxis.ticks(y.from, y.to)) {
      line(svg, LEFT, y.at(tick), WIDTH - RIGHT, y.at(tick));
      text(svg, LEFT - 8, y.at(tick) + 4, "end", number(tick));
    }
    for (int i = 0; i < curves.size(); i++) {
      Curve curve = curves.get(i);
      String colour = COLOURS.get(i % COLOURS.size());
      StringBuilder points = new StringBuilder();
      for (int k = 0; k < curve.x.length; k++) {
        points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x.at(curve.x[k]), y.at(curve.y[k])));
      }
      add(
          svg,
          "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>",
          points.toString().strip(),
          colour);
      for (String point : points.toString().strip().split(" ", -1)) {
        String[] place = point.split(",", -1);
        add(svg, "<circle cx=\"%s\" cy=\"%s\" r=\"3\" fill=\"%s\"/>", place[0], place[1], colour);
      }
      int row = TOP + 10 + 20 * i;
      add(
          svg,
          "<rect x=\"%d\" y=\"%d\" width=\"14\" height=\"4\" fill=\"%s\"/>",
          WIDTH - RIGHT + 16,
          row - 6,
          colour);
      text(svg, WIDTH - RIGHT + 36, row, "start", curve.name);
    }
    return svg.append("</svg>\n").toString();
  }

  @FormatMethod
  private static void add(StringBuilder svg, @FormatString String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format, values)).append('\n');
  }

  private static void line(StringBuilder svg, double x1, double y1, double x2, double y2) {
    add(
        svg,
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>",
        x1,
        y1,
        x2,
        y2);
  }

  private static void text(StringBuilder svg, double x, double y, String anchor, String text) {
    add(
        svg,
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>",
        x,
        y,
        anchor,
        escaped(text));
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;");
  }

  private static String number(double value) {
    return value >= 1000
        ? String.format(Locale.ROOT, "%,.0f", value)
        : new BigDecimal(String.format(Locale.ROOT, "%.4g", value))
            .stripTrailingZeros()
            .toPlainString();
  }

  /** From values to places in the picture. */
  private static final class Scale {

    private final Axis axis;
    private final double from;
    private final double to;
    private final double begin;
    private final double end;

    Scale(Axis axis, double[] values, double begin, double end) {
      double min = Double.MAX_VALUE;
      double max = 0;
      for (double value : values) {
        min = Math.min(min, value);
        max = Math.max(max, value);
      }
      this.axis = axis;
      this.from = axis == Axis.LOGARITHMIC ? Math.max(min, 0.01) : 0;
      this.to = axis == Axis.LINEAR ? max * 1.05 : max;
      this.begin = begin;
      this.end = end;
    }

    double at(double value) {
      double low = axis.place(from);
      double high = axis.place(to);
      double place = axis.place(Math.max(from, value));
      return begin + (end - begin) * (high == low ? 0 : (place - low) / (high - low));
    }
  }
}
