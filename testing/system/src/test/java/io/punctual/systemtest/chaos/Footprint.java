package io.punctual.systemtest.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.Http;
import io.punctual.systemtest.JavaProcess;
import java.io.IOException;
import java.util.function.ToLongFunction;

/**
 * What a scheduler needs.
 *
 * @param heap bytes in live objects
 * @param threads of the platform
 * @param virtualThreads that are referred to
 * @param files open ones, connections included
 */
record Footprint(long heap, long threads, long virtualThreads, long files) {

  // What a scheduler needs more once it has done everything for the first time.
  private static final Footprint FIRST_TIMES = new Footprint(16_000_000, 20, 200, 100);

  static Footprint of(JavaProcess scheduler) throws IOException {
    // First, for it collects what the other calls leave behind.
    String metrics = metrics(scheduler);
    String histogram = scheduler.histogram();
    return new Footprint(
        number(histogram, "Total ", 2),
        number(metrics, "jvm_threads_live_threads", 1),
        number(histogram, " java.lang.VirtualThread ", 1),
        files(metrics));
  }

  /**
   * The word of the line that has the text.
   *
   * @param word counted from 0
   */
  private static long number(String lines, String text, int word) {
    return lines
        .lines()
        .filter(line -> line.contains(text) && !line.startsWith("#"))
        .mapToLong(line -> (long) Double.parseDouble(line.strip().split("\\s+", -1)[word]))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("nothing of '" + text + "' in: " + lines));
  }

  /** Fails where it is clearly more than it was. */
  void judge(Footprint before) {
    compare("live heap, bytes", before, Footprint::heap);
    compare("threads", before, Footprint::threads);
    compare("virtual threads", before, Footprint::virtualThreads);
    compare("open files", before, Footprint::files);
  }

  /** Whether it has closed the connections of a time with more of them. */
  static boolean hasClosed(JavaProcess scheduler, Footprint before) throws IOException {
    return files(metrics(scheduler)) < most(before, Footprint::files);
  }

  private static String metrics(JavaProcess scheduler) throws IOException {
    return Http.getText(scheduler.url() + "/actuator/prometheus").body();
  }

  private static long files(String metrics) {
    return number(metrics, "process_files_open_files", 1);
  }

  private static long most(Footprint before, ToLongFunction<Footprint> figure) {
    long then = figure.applyAsLong(before);
    return then + then / 2 + figure.applyAsLong(FIRST_TIMES);
  }

  private void compare(String what, Footprint before, ToLongFunction<Footprint> figure) {
    assertThat(figure.applyAsLong(this))
        .as("%s: %s, after the start %s", what, this, before)
        .isLessThan(most(before, figure));
  }
}
