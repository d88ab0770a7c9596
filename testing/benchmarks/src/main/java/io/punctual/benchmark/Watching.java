package io.punctual.benchmark;

import io.punctual.benchmark.contest.Contest;
import io.punctual.systemtest.Http;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * What it costs to be watched, against not being watched: W by an open console or by Prometheus in
 * A2, C and B, and V by an open console in E. Watched and unwatched work take turns on the same
 * scheduler: processes differ by more than what is looked for.
 */
final class Watching {

  private static final List<String> WORK = List.of("A2", "C", "B");
  private static final int PAIRS_OF_ROUNDS = 2;
  // What one costs is less than two rounds differ by.
  private static final int CONSOLES = 20;

  private final Machine machine;
  private final Options options;
  private final Figures figures;
  private final Map<String, List<Double>> ratios = new LinkedHashMap<>();

  Watching(Machine machine, Options options) {
    this.machine = machine;
    this.options = options;
    this.figures = new Figures(machine.figures());
  }

  /** What a viewer reads again and again, and has read last. */
  private static final class Reader {

    private static final int TURN_SECONDS = 2;

    private final String path;
    private final int turns;
    private final int turnsUnchanged;
    private final Reader page;
    private final AtomicReference<String> seen = new AtomicReference<>("");
    private int unchanged;
    private int turn;

    Reader(String path, int turns) {
      this(path, turns, turns, null);
    }

    /**
     * @param turns how many turns of two seconds it waits between two reads
     * @param turnsUnchanged the same after five reads in a row that brought nothing new
     * @param page whose reads these are; null for its own
     */
    Reader(String path, int turns, int turnsUnchanged, @Nullable Reader page) {
      this.path = path;
      this.turns = turns;
      this.turnsUnchanged = turnsUnchanged;
      this.page = page == null ? this : page;
    }

    void turn(String scheduler) {
      turn = (turn + 1) % (page.unchanged < 5 ? turns : turnsUnchanged);
      if (turn == 0) {
        int status = read(scheduler, seen);
        unchanged = status == 304 ? unchanged + 1 : 0;
      }
    }

    private int read(String scheduler, AtomicReference<String> last) {
      int status;
      try {
        status = Http.getUnless(scheduler + path, last);
      } catch (IOException e) {
        throw new UncheckedIOException(path + " could not be read", e);
      }
      if (status != 200 && status != 304) {
        throw new IllegalStateException(path + " was answered with HTTP " + status);
      }
      return status;
    }
  }

  private record Viewing(String who, List<Reader> readers) {}

  private static final String OVERVIEW = "/console?part=live";
  private static final String CHARTS = "/console/charts";

  /** As {@code console.js} reads the overview and its charts. */
  private static Viewing console() {
    Reader overview = new Reader(OVERVIEW, 1, 3, null);
    return new Viewing("console", List.of(overview, new Reader(CHARTS, 5, 15, overview)));
  }

  /** That many, at different times. */
  private static Viewing consoles() {
    List<Reader> readers = new ArrayList<>();
    for (int i = 0; i < CONSOLES; i++) {
      readers.addAll(console().readers());
    }
    return new Viewing(CONSOLES + " consoles", readers);
  }

  /** As Prometheus is configured. */
  private static Viewing prometheus() {
    return new Viewing("prometheus", List.of(new Reader("/actuator/prometheus", 5)));
  }

  private interface Work {
    void run(String who) throws Exception;
  }

  void work() throws Exception {
    // The rounds of one process differ less than processes do.
    int repetitions = options.scale().repetitions();
    Contest.Scale scale = options.scale().repeated(4 * repetitions, 1);
    machine.service(
        List.of(),
        around -> {
          // Not compared: the scheduler's compiler is at work.
          machine.contest("punctual:warm-up", WORK, around, scale);
          compare(
              "W",
              List.of(console(), prometheus()),
              around.schedulers(),
              who -> machine.contest("punctual:" + who, WORK, around, scale));
        });
  }

  void idle() throws Exception {
    List<Viewing> viewings = List.of(console(), consoles());
    IdleQueues idle = new IdleQueues(machine, options, figures);
    idle.served(
        fleet -> {
          String scheduler = fleet.surroundings().schedulers();
          // As often as in an hour: the scheduler's compiler is at work.
          List<Reader> warming = consoles().readers();
          for (int i = 0; i < 500; i++) {
            warming.forEach(reader -> reader.turn(scheduler));
          }
          idle.rest();
          compare("V", viewings, scheduler, who -> idle.measure("E", who, fleet));
        });
  }

  private void compare(String part, List<Viewing> viewings, String scheduler, Work work)
      throws Exception {
    Viewing none = new Viewing("unwatched", List.of());
    List<Viewing> order = new ArrayList<>(viewings);
    order.add(0, none);
    for (int pair = 0; pair < PAIRS_OF_ROUNDS; pair++) {
      int begin = figures.all().size();
      for (int round = 0; round < 2; round++) {
        for (Viewing viewing : order) {
          run(viewing, scheduler, work);
        }
        Collections.reverse(order);
      }
      List<Figure> all = figures.all();
      addRatios(all.subList(begin, all.size()), none.who());
    }
    ratios.forEach(
        (what, values) ->
            figures.add(
                new Figure(
                    part,
                    "watched",
                    what + ", of unwatched",
                    values.stream().mapToDouble(Double::doubleValue).toArray(),
                    "one ratio for two rounds, of which the second goes backwards")));
    ratios.clear();
  }

  /** Ratios of the sums: what grows or shrinks all the time, as a compiler's work does, cancels. */
  private void addRatios(List<Figure> pair, String none) {
    Map<String, Map<String, Double>> sums = new LinkedHashMap<>();
    for (Figure figure : pair) {
      if (!figure.metric().equals(Figure.DISTRIBUTION)) {
        sums.computeIfAbsent(figure.part() + " " + figure.metric(), what -> new LinkedHashMap<>())
            .merge(figure.who(), figure.median(), Double::sum);
      }
    }
    sums.forEach(
        (what, byViewer) -> {
          double unwatched = Objects.requireNonNull(byViewer.get(none));
          byViewer.forEach(
              (who, sum) -> {
                if (!who.equals(none)) {
                  ratios
                      .computeIfAbsent(what + ", " + who, key -> new ArrayList<>())
                      .add(sum / unwatched);
                }
              });
        });
  }

  private static void run(Viewing viewing, String scheduler, Work work) throws Exception {
    ScheduledExecutorService viewers = Executors.newScheduledThreadPool(1);
    try {
      List<ScheduledFuture<?>> reads = new ArrayList<>();
      long turn = TimeUnit.SECONDS.toMillis(Reader.TURN_SECONDS);
      List<Reader> readers = viewing.readers();
      for (int i = 0; i < readers.size(); i++) {
        Reader reader = readers.get(i);
        long first = turn * i / readers.size();
        reads.add(
            viewers.scheduleAtFixedRate(
                () -> reader.turn(scheduler), first, turn, TimeUnit.MILLISECONDS));
      }
      work.run(viewing.who());
      for (ScheduledFuture<?> read : reads) {
        // One that fails is not repeated: nothing was watched from then on.
        if (read.state() == Future.State.FAILED) {
          throw new IllegalStateException(
              "a read of metrics or console failed", read.exceptionNow());
        }
      }
    } finally {
      viewers.shutdownNow();
      viewers.close();
    }
  }
}
