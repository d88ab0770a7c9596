package io.punctual.benchmark;

import io.punctual.benchmark.contest.Contest;
import java.util.List;

/** T: throughput by the worker's concurrency, and lateness by load. */
final class Tuning {

  private static final int[] CONCURRENCY = {10, 50, 100, 500, 1000};
  private static final int[] RATES = {500, 5_000, 15_000, 25_000};

  private final Machine machine;
  private final Options options;

  Tuning(Machine machine, Options options) {
    this.machine = machine;
    this.options = options;
  }

  void run() throws Exception {
    for (int concurrency : CONCURRENCY) {
      contest(
          "punctual:concurrency " + concurrency,
          List.of("C"),
          options.scale(),
          "-Dbench.concurrency=" + concurrency);
    }
    for (int rate : RATES) {
      // C only warms up.
      contest(
          "punctual:" + rate + " jobs/s",
          List.of("C", "B"),
          new Contest.Scale(5, 1, 1, 1, 0, rate, 10, 50_000, 1));
    }
  }

  private void contest(String who, List<String> parts, Contest.Scale scale, String... flags)
      throws Exception {
    machine.service(1, 1, around -> machine.contest(who, parts, around, scale, flags));
  }
}
