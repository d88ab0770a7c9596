package io.punctual.benchmark;

import io.punctual.systemtest.Http;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * W: what it costs to be watched, by Prometheus and by an open console, against neither of them. In
 * rounds of new processes, which begin in turn with and without watchers: processes differ by more
 * than what is looked for.
 */
final class Watching {

  private static final List<String> WORK = List.of("A2", "C", "B");
  private static final int ROUNDS = 3;
  // As deploy/observability/prometheus.yml has it.
  private static final int SCRAPE_SECONDS = 10;
  // As the console's overview asks again.
  private static final int LOOK_SECONDS = 2;
  private static final int DRAW_SECONDS = 10;

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
          try (ScheduledExecutorService viewers = Executors.newScheduledThreadPool(1)) {
            List<ScheduledFuture<?>> reads =
                List.of(
                    repeat(viewers, SCRAPE_SECONDS, around.schedulers() + "/actuator/prometheus"),
                    repeat(viewers, LOOK_SECONDS, around.schedulers() + "/console?part=live"),
                    repeat(viewers, DRAW_SECONDS, around.schedulers() + "/console/charts"));
            try {
              machine.contest("punctual:watched", WORK, around);
              for (ScheduledFuture<?> read : reads) {
                // One that fails is not repeated: nothing watched from then on.
                if (read.isDone()) {
                  read.get();
                }
              }
            } finally {
              viewers.shutdownNow();
            }
          }
        });
  }

  private static ScheduledFuture<?> repeat(
      ScheduledExecutorService viewers, int seconds, String url) {
    return viewers.scheduleAtFixedRate(
        () -> {
          int status;
          try {
            status = Http.getText(url).status();
          } catch (IOException e) {
            throw new UncheckedIOException(url + " could not be read", e);
          }
          if (status != 200) {
            throw new IllegalStateException(url + " was answered with HTTP " + status);
          }
        },
        1,
        seconds,
        TimeUnit.SECONDS);
  }
}
