package io.punctual.benchmark;

import io.punctual.benchmark.contender.Surroundings;
import io.punctual.systemtest.Http;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

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

  // Without metrics there is no history either.
  private static final List<String> UNMETERED =
      List.of("--management.metrics.enable.punctual=false");

  private final Machine machine;
  private final Figures figures;
  private final IdleQueues idle;

  Watching(Machine machine, Options options) {
    this.machine = machine;
    this.figures = new Figures(machine.figures());
    this.idle = new IdleQueues(machine, options, figures);
  }

  void run() throws Exception {
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
    machine.service(UNMETERED, around -> machine.contest("punctual:unwatched", WORK, around));
    idle.watched("unwatched", UNMETERED, around -> () -> {});
  }

  private void watched() throws Exception {
    machine.service(
        List.of(),
        around -> {
          Runnable end = watch(around);
          try {
            machine.contest("punctual:watched", WORK, around);
          } finally {
            end.run();
          }
        });
    idle.watched("watched", List.of(), Watching::watch);
  }

  /** Begins to watch; what is returned ends it, and fails if that was over before. */
  private static Runnable watch(Surroundings around) {
    ScheduledExecutorService viewers = Executors.newScheduledThreadPool(1);
    List<ScheduledFuture<?>> reads =
        List.of(
            repeat(viewers, SCRAPE_SECONDS, around.schedulers() + "/actuator/prometheus"),
            repeat(viewers, LOOK_SECONDS, around.schedulers() + "/console?part=live"),
            repeat(viewers, DRAW_SECONDS, around.schedulers() + "/console/charts"));
    return () -> {
      // One that fails is not repeated: nothing watched from then on.
      List<Throwable> failures =
          reads.stream()
              .filter(read -> read.state() == Future.State.FAILED)
              .map(Future::exceptionNow)
              .toList();
      viewers.shutdownNow();
      if (!failures.isEmpty()) {
        throw new IllegalStateException("a read of metrics or console failed", failures.get(0));
      }
    };
  }

  private static ScheduledFuture<?> repeat(
      ScheduledExecutorService viewers, int seconds, String url) {
    AtomicReference<String> seen = new AtomicReference<>("");
    return viewers.scheduleAtFixedRate(
        () -> {
          int status;
          try {
            status = Http.getUnless(url, seen);
          } catch (IOException e) {
            throw new UncheckedIOException(url + " could not be read", e);
          }
          if (status != 200 && status != 304) {
            throw new IllegalStateException(url + " was answered with HTTP " + status);
          }
        },
        1,
        seconds,
        TimeUnit.SECONDS);
  }
}
