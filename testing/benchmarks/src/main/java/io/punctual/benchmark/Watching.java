package io.punctual.benchmark;

import io.punctual.systemtest.Http;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/**
 * W: what it costs to be watched, by Prometheus and by an open console, against neither of them. In
 * rounds that take turns on the same scheduler: processes differ by more than what is looked for.
 */
final class Watching {

  private static final List<String> WORK = List.of("A2", "C", "B");
  private static final int ROUNDS = 3;

  private static final List<Reader> CONSOLE =
      List.of(Reader.ofOverview(), new Reader("/console/charts", 10));
  // As deploy/observability/prometheus.yml has it.
  private static final List<Reader> PROMETHEUS = List.of(new Reader("/actuator/prometheus", 10));
  private static final List<Reader> BOTH =
      Stream.of(CONSOLE, PROMETHEUS).flatMap(List::stream).toList();

  private final Machine machine;
  private final Figures figures;
  private final IdleQueues idle;
  private final Map<String, List<Double>> ratios = new LinkedHashMap<>();

  Watching(Machine machine, Options options) {
    this.machine = machine;
    this.figures = new Figures(machine.figures());
    this.idle = new IdleQueues(machine, options, figures);
  }

  /**
   * What a viewer reads again and again.
   *
   * @param seconds between two reads
   * @param slowly the same, once five reads in a row brought nothing new
   */
  private record Reader(String path, int seconds, int slowly) {

    private static final int SAME = 5;

    Reader(String path, int seconds) {
      this(path, seconds, seconds);
    }

    /** As {@code console.js} reads it. */
    static Reader ofOverview() {
      return new Reader("/console?part=live", 2, 6);
    }

    /** Reads until the thread is interrupted. */
    Void readOn(String scheduler) throws IOException, InterruptedException {
      AtomicReference<String> seen = new AtomicReference<>("");
      int same = 0;
      while (true) {
        TimeUnit.SECONDS.sleep(same < SAME ? seconds : slowly);
        same = read(scheduler, seen) == 304 ? same + 1 : 0;
      }
    }

    int read(String scheduler, AtomicReference<String> seen) throws IOException {
      int status = Http.getUnless(scheduler + path, seen);
      if (status != 200 && status != 304) {
        throw new IllegalStateException(path + " was answered with HTTP " + status);
      }
      return status;
    }
  }

  private record Way(String who, List<Reader> readers) {}

  private static final Way UNWATCHED = new Way("unwatched", List.of());

  private interface Work {
    void of(String who) throws Exception;
  }

  void run() throws Exception {
    machine.service(
        List.of(),
        around -> {
          // Its figures are no one's: the scheduler's compiler is at work.
          machine.contest("punctual:warm-up", WORK, around);
          rounds(
              List.of(UNWATCHED, new Way("watched", BOTH)),
              around.schedulers(),
              who -> machine.contest("punctual:" + who, WORK, around));
        });
    idle.served(
        fleet -> {
          String scheduler = fleet.surroundings().schedulers();
          for (int i = 0; i < 200; i++) {
            for (Reader reader : BOTH) {
              var unused = reader.read(scheduler, new AtomicReference<>(""));
            }
          }
          idle.rest(90);
          rounds(
              List.of(UNWATCHED, new Way("console", CONSOLE), new Way("prometheus", PROMETHEUS)),
              scheduler,
              who -> idle.measure("E", who, fleet));
        });
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

  /** Every second round begins with what was last in the one before. */
  private void rounds(List<Way> ways, String scheduler, Work work) throws Exception {
    List<Way> order = new ArrayList<>(ways);
    for (int round = 0; round < ROUNDS; round++) {
      int begin = figures.all().size();
      for (Way way : order) {
        watched(way, scheduler, work);
      }
      Collections.reverse(order);
      List<Figure> all = figures.all();
      compare(all.subList(begin, all.size()));
    }
  }

  private void compare(List<Figure> round) {
    for (Figure figure : round) {
      round.stream()
          .filter(
              other ->
                  other.who().equals(UNWATCHED.who())
                      && !figure.who().equals(UNWATCHED.who())
                      && other.part().equals(figure.part())
                      && other.metric().equals(figure.metric()))
          .forEach(
              unwatched ->
                  ratios
                      .computeIfAbsent(
                          figure.part() + " " + figure.metric() + ", " + figure.who(),
                          what -> new ArrayList<>())
                      .add(figure.median() / unwatched.median()));
    }
  }

  private static void watched(Way way, String scheduler, Work work) throws Exception {
    try (ExecutorService viewers = Executors.newCachedThreadPool()) {
      List<Future<Void>> reads =
          way.readers().stream()
              .map(reader -> viewers.submit(() -> reader.readOn(scheduler)))
              .toList();
      try {
        work.of(way.who());
        for (Future<Void> read : reads) {
          // One that has ended has failed: nothing was watched from then on.
          if (read.isDone()) {
            throw new IllegalStateException(
                "a read of metrics or console failed", read.exceptionNow());
          }
        }
      } finally {
        viewers.shutdownNow();
      }
    }
  }
}
