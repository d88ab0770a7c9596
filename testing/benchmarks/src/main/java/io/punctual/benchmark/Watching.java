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
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * What it costs to be watched, by an open console or by Prometheus, against neither of them: W in
 * A2, C and B, and V in E. Watched and unwatched work take turns on the same scheduler: processes
 * differ by more than what is looked for.
 */
final class Watching {

  private static final List<String> WORK = List.of("A2", "C", "B");
  // Even: each order comes as often as the reverse one.
  private static final int ROUNDS = 4;

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

    /** Has the page drawn. */
    void draw(String scheduler) {
      var unused = read(scheduler, new AtomicReference<>(""));
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

  /** As {@code console.js} reads the overview and its charts, and as Prometheus is configured. */
  private static List<Viewing> viewings() {
    Reader overview = new Reader("/console?part=live", 1, 3, null);
    return List.of(
        new Viewing("console", List.of(overview, new Reader("/console/charts", 5, 15, overview))),
        new Viewing("prometheus", List.of(new Reader("/actuator/prometheus", 5))));
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
              viewings(),
              around.schedulers(),
              who -> machine.contest("punctual:" + who, WORK, around, scale));
        });
  }

  void idle() throws Exception {
    List<Viewing> viewings = viewings();
    IdleQueues idle = new IdleQueues(machine, options, figures);
    idle.served(
        fleet -> {
          String scheduler = fleet.surroundings().schedulers();
          // As often as in an hour: the scheduler's compiler is at work.
          for (int i = 0; i < 300; i++) {
            viewings.forEach(
                viewing -> viewing.readers().forEach(reader -> reader.draw(scheduler)));
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
    for (int round = 0; round < ROUNDS; round++) {
      int begin = figures.all().size();
      for (Viewing viewing : order) {
        run(viewing, scheduler, work);
      }
      Collections.reverse(order);
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
                    "one ratio of medians a round")));
    ratios.clear();
  }

  private void addRatios(List<Figure> round, String none) {
    for (Figure figure : round) {
      round.stream()
          .filter(
              other ->
                  other.who().equals(none)
                      && !figure.who().equals(none)
                      && !other.metric().equals(Figure.DISTRIBUTION)
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

  private static void run(Viewing viewing, String scheduler, Work work) throws Exception {
    ScheduledExecutorService viewers = Executors.newScheduledThreadPool(1);
    try {
      List<ScheduledFuture<?>> reads = new ArrayList<>();
      for (Reader reader : viewing.readers()) {
        reads.add(
            viewers.scheduleAtFixedRate(
                () -> reader.turn(scheduler), 1, Reader.TURN_SECONDS, TimeUnit.SECONDS));
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
