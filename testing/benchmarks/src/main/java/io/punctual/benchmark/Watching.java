package io.punctual.benchmark;

import io.punctual.systemtest.Http;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * W: what it costs to be watched, all that is counted against nothing. In rounds, each with
 * processes of its own, in which now the one and now the other comes first: what differs from
 * process to process is more than what is looked for.
 */
final class Watching {

  private static final List<String> WORK = List.of("A2", "C", "B");
  private static final int ROUNDS = 3;
  // As deploy/observability/prometheus.yml has it.
  private static final int SCRAPE_SECONDS = 10;

  private final Machine machine;

  Watching(Machine machine) {
    this.machine = machine;
  }

  void run() throws Exception {
    Figures figures = new Figures(machine.figures());
    Map<String, List<Double>> ratios = new LinkedHashMap<>();
    for (int round = 0; round < ROUNDS; round++) {
      int begin = figures.all().size();
      if (round % 2 == 0) {
        unwatched();
        watched();
      } else {
        watched();
        unwatched();
      }
      List<Figure> all = figures.all();
      compare(all.subList(begin, all.size()), ratios);
    }
    ratios.forEach(
        (what, values) ->
            figures.add(
                new Figure(
                    "W",
                    "watched",
                    what + ", of unwatched",
                    values.stream().mapToDouble(Double::doubleValue).toArray(),
                    "one ratio of medians a round")));
  }

  private static void compare(List<Figure> round, Map<String, List<Double>> ratios) {
    for (Figure watched : round) {
      for (Figure unwatched : round) {
        if (watched.who().equals("watched")
            && unwatched.who().equals("unwatched")
            && watched.part().equals(unwatched.part())
            && watched.metric().equals(unwatched.metric())) {
          ratios
              .computeIfAbsent(watched.part() + " " + watched.metric(), what -> new ArrayList<>())
              .add(watched.median() / unwatched.median());
        }
      }
    }
  }

  private void unwatched() throws Exception {
    machine.service(
        List.of("--management.metrics.enable.punctual=false"),
        around -> machine.contest("punctual:unwatched", WORK, around));
  }

  private void watched() throws Exception {
    machine.service(
        List.of(),
        around -> {
          try (ScheduledExecutorService scraper = Executors.newSingleThreadScheduledExecutor()) {
            var scrapes =
                scraper.scheduleAtFixedRate(
                    () -> scrape(around.schedulers()), 1, SCRAPE_SECONDS, TimeUnit.SECONDS);
            try {
              machine.contest("punctual:watched", WORK, around);
            } finally {
              scrapes.cancel(true);
            }
          }
        });
  }

  private static void scrape(String scheduler) {
    try {
      Http.getText(scheduler + "/actuator/prometheus");
    } catch (Exception e) {
      throw new IllegalStateException("the metrics of " + scheduler + " could not be read", e);
    }
  }
}
