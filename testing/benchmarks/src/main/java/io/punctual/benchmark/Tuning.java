package io.punctual.benchmark;

import io.punctual.benchmark.contest.Contest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** T: what the settings change, as curves. */
final class Tuning {

  private static final int[] CONCURRENCY = {10, 50, 100, 500, 1000};
  private static final int[] RATES = {500, 5_000, 15_000, 25_000};

  private final Machine machine;
  private final Options options;
  private final Figures figures;

  Tuning(Machine machine, Options options, Figures figures) {
    this.machine = machine;
    this.options = options;
    this.figures = figures;
  }

  void run() throws Exception {
    XYChart drain = chart("Drain by the worker's concurrency", "concurrency", "jobs/s");
    List<Double> rates = new ArrayList<>();
    for (int concurrency : CONCURRENCY) {
      String who = "punctual:concurrency " + concurrency;
      machine.service(
          1,
          1,
          around ->
              machine.contest(
                  who,
                  List.of("C"),
                  around,
                  options.scale(),
                  "-Dbench.concurrency=" + concurrency));
      rates.add(last().median());
    }
    add(drain, "one scheduler, one worker, Redis on two processors", CONCURRENCY, rates);
    save(drain, "drain-by-concurrency");

    XYChart lateness = chart("Lateness by load", "jobs/s", "ms");
    List<Double> median = new ArrayList<>();
    List<Double> p99 = new ArrayList<>();
    for (int rate : RATES) {
      Contest.Scale scale = new Contest.Scale(5, 1, 1, 1, 0, rate, 10, 50_000, 1);
      // C only warms up.
      machine.service(
          1,
          1,
          around ->
              machine.contest("punctual:" + rate + " jobs/s", List.of("C", "B"), around, scale));
      List<Figure> all = figures.all();
      median.add(all.get(all.size() - 4).median());
      p99.add(all.get(all.size() - 2).median());
    }
    add(lateness, "p50", RATES, median);
    add(lateness, "p99", RATES, p99);
    save(lateness, "lateness-by-load");
  }

  private Figure last() {
    return figures.all().getLast();
  }

  private static XYChart chart(String title, String x, String y) {
    XYChart chart =
        new XYChartBuilder()
            .width(800)
            .height(480)
            .title(title)
            .xAxisTitle(x)
            .yAxisTitle(y)
            .build();
    chart.getStyler().setXAxisLogarithmic(true);
    chart.getStyler().setYAxisMin(0.0);
    return chart;
  }

  private static void add(XYChart chart, String name, int[] x, List<Double> y) {
    List<Integer> values = new ArrayList<>();
    for (int value : x) {
      values.add(value);
    }
    XYSeries series = chart.addSeries(name, values, y);
    series.setMarker(SeriesMarkers.CIRCLE);
  }

  private void save(XYChart chart, String name) throws IOException {
    BitmapEncoder.saveBitmap(
        chart, options.directory().resolve(name).toString(), BitmapEncoder.BitmapFormat.PNG);
  }
}
