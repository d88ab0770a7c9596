package io.punctual.server.console;

import io.punctual.core.job.QueueName;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The load to come as a drawing; places are percents of the width, as texts. */
final class LoadChart {

  /** The height of the bars, px. */
  private static final int HEIGHT = 160;

  private static final int TOP = 14;

  /** If the line is so many times as high as the highest bar, it is not drawn. */
  private static final int FAR = 3;

  /**
   * The jobs of an interval.
   *
   * @param x where it begins
   * @param y px from the top
   * @param words the search that finds its jobs
   * @param beyond whether it exceeds {@link LoadAhead.Load#most}
   */
  record Bar(
      String x,
      String width,
      int y,
      int height,
      String time,
      long jobs,
      String words,
      boolean beyond) {}

  private final LoadAhead.Load load;
  private final DateTimeFormatter clock;
  private final boolean near;
  private final double top;
  private final List<Bar> bars = new ArrayList<>();

  LoadChart(LoadAhead.Load load, ZoneId zone, Locale language) {
    this.load = load;
    String pattern = load.ahead() == LoadAhead.Ahead.HOUR ? "HH:mm" : "EEE HH:mm";
    this.clock = DateTimeFormatter.ofPattern(pattern, language).withZone(zone);
    long most = load.most() == null ? 0 : load.most();
    long peak = load.counts().stream().mapToLong(Long::longValue).max().orElse(0);
    this.near = peak == 0 || most <= FAR * peak;
    this.top = Timeline.round((double) (near ? Math.max(most, peak) : peak));
    double width = 100.0 / Math.max(1, load.counts().size());
    for (int i = 0; i < load.counts().size(); i++) {
      long jobs = load.counts().get(i);
      long from = load.from() + i * load.width();
      if (jobs > 0) {
        int height = (int) Math.max(1, Math.round(HEIGHT * jobs / top));
        bars.add(
            new Bar(
                percent(i * width),
                percent(width * 0.85),
                TOP + HEIGHT - height,
                height,
                time(from),
                jobs,
                "%sfrom:%s until:%s"
                    .formatted(
                        load.words(),
                        // The last bar has the jobs that are due at that moment.
                        Instant.ofEpochMilli(from + 1),
                        Instant.ofEpochMilli(from + load.width())),
                load.most() != null && jobs > most));
      }
    }
  }

  private static String percent(double value) {
    return String.format(Locale.ROOT, "%.2f%%", value);
  }

  /** Returns a time as the viewer's clock shows it. */
  public String time(long at) {
    return clock.format(Instant.ofEpochMilli(at));
  }

  public LoadAhead.Load getLoad() {
    return load;
  }

  public int getHeight() {
    return TOP + HEIGHT;
  }

  /** Returns the intervals in which jobs are due. */
  public List<Bar> getBars() {
    return bars;
  }

  /**
   * The jobs of a queue in all bars.
   *
   * @param kind the CSS class of its colour
   * @param queue null for all other queues
   * @param path an outline for each bar, in 1,000 units of width and {@link #getBarHeight} of
   *     height
   */
  record Stack(String kind, @Nullable QueueName queue, long jobs, String path) {}

  /** Returns the parts of the bars, from the bottom up; empty if the bars are not divided. */
  public List<Stack> getStacks() {
    List<Stack> stacks = new ArrayList<>();
    int count = load.counts().size();
    double[] below = new double[count];
    for (LoadAhead.Part part : load.parts()) {
      StringBuilder path = new StringBuilder();
      for (int i = 0; i < count; i++) {
        double height = HEIGHT * part.counts().get(i) / top;
        if (height > 0) {
          path.append(
              String.format(
                  Locale.ROOT,
                  "M%.0f %.1fh%.0fv%.1fh-%.0fz",
                  1000.0 * i / count,
                  HEIGHT - below[i],
                  850.0 / count,
                  -height,
                  850.0 / count));
          below[i] += height;
        }
      }
      String kind = part.queue() == null ? "rest" : "q" + (stacks.size() + 1);
      stacks.add(new Stack(kind, part.queue(), part.jobs(), path.toString()));
    }
    return stacks;
  }

  public int getBarHeight() {
    return HEIGHT;
  }

  /** Returns the first of the highest; null where no job is due. */
  public @Nullable Bar getPeak() {
    Bar peak = null;
    for (Bar bar : bars) {
      peak = peak == null || bar.jobs() > peak.jobs() ? bar : peak;
    }
    return peak;
  }

  /**
   * Returns where {@link LoadAhead.Load#most} is, in px from the top; null if that is not known, or
   * so high that the bars could not be seen below it.
   */
  public @Nullable Integer getLine() {
    return load.most() == null || !near
        ? null
        : Integer.valueOf(TOP + HEIGHT - (int) Math.round(HEIGHT * load.most() / top));
  }

  /** Returns numbers of jobs along the axis, in px from the top; none where no job is due. */
  public List<Timeline.Tick> getTicks() {
    return bars.isEmpty() ? List.of() : Timeline.even(TOP, HEIGHT, top);
  }

  /** Returns times along the axis. */
  public List<Timeline.Tick> getTimes() {
    List<Timeline.Tick> times = new ArrayList<>();
    int count = load.counts().size();
    for (int i = count / 6; load.from() > 0 && i < count; i += Math.max(1, count / 4)) {
      times.add(
          new Timeline.Tick(percent(100.0 * i / count), time(load.from() + i * load.width())));
    }
    return times;
  }
}
