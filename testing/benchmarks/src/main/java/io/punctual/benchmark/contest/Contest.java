package io.punctual.benchmark.contest;

import io.punctual.benchmark.Distribution;
import io.punctual.benchmark.Figure;
import io.punctual.benchmark.Figures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** The work, on one contender, part by part. */
public final class Contest {

  private static final int SUBMITTERS = 16;
  private static final int BULK_SUBMITTERS = 4;
  private static final int BULK = 500;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final String who;
  private final Contender contender;
  private final Scale scale;
  private final Figures figures;

  /**
   * How much work.
   *
   * @param warmUpSeconds how long each part is done at least without being measured, and until a
   *     round is hardly faster than those before, at most three times as long; 0 for one round
   * @param repetitions measured ones
   * @param latenessRepetitions those of B
   * @param submits jobs of A1 and A2
   * @param submitSeconds how long a round of A1 or A2 takes at least: the work is done again until
   *     then, since that of a fast contender is over in a third of a second
   * @param rate jobs/s of B
   * @param seconds how long B lasts
   * @param drained jobs of C
   * @param stored jobs of D
   */
  public record Scale(
      int warmUpSeconds,
      int repetitions,
      int latenessRepetitions,
      int submits,
      int submitSeconds,
      int rate,
      int seconds,
      int drained,
      int stored) {}

  /** Names the contender and says what its figures are called. */
  public Contest(String who, Contender contender, Scale scale, Figures figures) {
    this.who = who;
    this.contender = contender;
    this.scale = scale;
    this.figures = figures;
  }

  /** Runs the parts in the order given: A1, A2, B, B2 behind C, C, C1, D, H. */
  public void run(List<String> parts) throws Exception {
    System.out.println(who + ": " + contender.description());
    contender.open(Recorder::handle);
    double drainRate = 0;
    for (String part : parts) {
      switch (part) {
        case "A1" -> submit(part, false);
        case "A2" -> submit(part, true);
        case "B" -> lateness(part, scale.rate(), scale.seconds());
        case "B2" -> lateness(part, (int) (drainRate * 0.8), Math.ceilDiv(scale.seconds(), 2));
        case "C", "C1", "H" -> drainRate = drain(part);
        case "D" -> memory(part);
        default -> throw new IllegalArgumentException("no such part: " + part);
      }
    }
    if (Recorder.strays() > 0) {
      figures.add(
          figure("-", "runs of jobs of an earlier round", List.of((double) Recorder.strays()), ""));
    }
  }

  private void submit(String part, boolean bulk) throws Exception {
    if (bulk && contender.bulkCall() == null) {
      return;
    }
    List<Double> rates = new ArrayList<>();
    WarmUp warmUp = new WarmUp();
    while (rates.size() < scale.repetitions()) {
      int jobs = 0;
      double seconds = 0;
      do {
        jobs += scale.submits();
        seconds += submitOnce(scale.submits(), bulk);
      } while (seconds < scale.submitSeconds());
      if (warmUp.isOver(jobs / seconds)) {
        rates.add(jobs / seconds);
      }
    }
    contender.clear();
    figures.add(figure(part, "jobs/s", rates, bulk ? contender.bulkCall() + "" : ""));
  }

  private double submitOnce(int jobs, boolean bulk) throws Exception {
    contender.clear();
    Recorder recorder = Recorder.begin(jobs);
    long before = contender.pending();
    long start = System.nanoTime();
    if (bulk) {
      load(recorder, jobs, inAnHour());
    } else {
      parallel(SUBMITTERS, jobs, i -> contender.submit(recorder.job(i, inAnHour())));
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    long stored = contender.pending() - before;
    if (stored != jobs) {
      throw new IllegalStateException(who + " holds " + stored + " jobs more, not " + jobs);
    }
    return seconds;
  }

  private void lateness(String part, int rate, int seconds) throws Exception {
    List<List<Double>> columns =
        List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    Accounts accounts = new Accounts();
    for (int repetition = 1; repetition <= scale.latenessRepetitions(); repetition++) {
      Distribution distribution = arrivals(rate, seconds, accounts);
      columns.get(0).add(distribution.percentileMillis(50));
      columns.get(1).add(distribution.percentileMillis(90));
      columns.get(2).add(distribution.percentileMillis(99));
      columns.get(3).add(distribution.maxMillis());
    }
    String note = accounts.text(part.equals("B2") ? rate + " jobs/s" : "");
    List<String> metrics = List.of("p50 ms", "p90 ms", "p99 ms", "max ms");
    for (int i = 0; i < metrics.size(); i++) {
      figures.add(figure(part, metrics.get(i), columns.get(i), note));
    }
  }

  /** An open loop: the arrivals never wait for a slow submit. */
  private Distribution arrivals(int rate, int seconds, Accounts accounts) throws Exception {
    int jobs = rate * seconds;
    contender.clear();
    Recorder recorder = Recorder.begin(jobs);
    Random random = new Random(rate);
    long lastDue = 0;
    List<Future<?>> submits = new ArrayList<>(jobs);
    try (ExecutorService submitters = Executors.newFixedThreadPool(SUBMITTERS)) {
      long start = System.nanoTime();
      long startMillis = System.currentTimeMillis();
      int batch = rate < 2000 ? 1 : rate / 200;
      for (int i = 0; i < jobs; i += batch) {
        long at = i * 1_000_000_000L / rate;
        for (long left = start + at - System.nanoTime();
            left > 0;
            left = start + at - System.nanoTime()) {
          LockSupport.parkNanos(left);
        }
        List<Contender.Job> some = new ArrayList<>(batch);
        for (int k = i; k < Math.min(jobs, i + batch); k++) {
          long due = startMillis + at / 1_000_000 + 2000 + random.nextInt(3001);
          lastDue = Math.max(lastDue, due);
          some.add(recorder.job(k, due));
        }
        submits.add(
            submitters.submit(
                () -> {
                  if (some.size() == 1) {
                    contender.submit(some.get(0));
                  } else {
                    contender.bulk(some);
                  }
                  return null;
                }));
      }
      for (Future<?> submit : submits) {
        submit.get();
      }
    }
    awaitComplete(recorder, lastDue + 30_000);
    accounts.add(recorder);
    return new Distribution(recorder.lateness());
  }

  private double drain(String part) throws Exception {
    List<Double> rates = new ArrayList<>();
    Accounts accounts = new Accounts();
    int jobs = Math.min(scale.drained(), contender.mostDrained());
    double millisPerJob = 0.1;
    WarmUp warmUp = new WarmUp();
    while (rates.size() < scale.repetitions()) {
      contender.clear();
      long others = contender.pending();
      Recorder recorder = Recorder.begin(jobs);
      long start = System.currentTimeMillis();
      long due = start + 700 + (long) (jobs * millisPerJob * 1.3);
      load(recorder, jobs, due);
      contender.settle();
      long loaded = System.currentTimeMillis();
      millisPerJob = (double) (loaded - start) / jobs;
      if (loaded > due - 200) {
        // The load was slower than guessed: once more, with a later time.
        awaitComplete(recorder, due + PATIENCE.toMillis());
        continue;
      }
      awaitComplete(recorder, due + PATIENCE.toMillis());
      while (contender.pending() > others && System.currentTimeMillis() < due + 150_000) {
        LockSupport.parkNanos(10_000_000);
      }
      // Done is what the store knows to be done, where it is told.
      double seconds = (System.currentTimeMillis() - due) / 1000.0;
      double rate = (jobs - recorder.missing()) / seconds;
      if (warmUp.isOver(rate)) {
        accounts.add(recorder);
        rates.add(rate);
      }
    }
    Figure figure =
        figure(part, "jobs/s", rates, accounts.text(jobs < scale.drained() ? jobs + " jobs" : ""));
    figures.add(figure);
    return figure.median();
  }

  private void memory(String part) throws Exception {
    contender.clear();
    load(Recorder.begin(1000), 1000, inAnHour());
    long before = contender.storeBytes();
    if (before < 0) {
      return;
    }
    long had = contender.pending();
    load(Recorder.begin(scale.stored()), scale.stored(), inAnHour());
    long stored = contender.pending() - had;
    double bytes = (double) (contender.storeBytes() - before) / stored;
    figures.add(
        figure(
            part,
            "bytes/job over the payload",
            List.of(bytes - Recorder.PAYLOAD),
            stored + " jobs"));
    contender.clear();
  }

  private void load(Recorder recorder, int jobs, long due) throws Exception {
    if (contender.bulkCall() == null) {
      parallel(SUBMITTERS, jobs, i -> contender.submit(recorder.job(i, due)));
      return;
    }
    parallel(
        BULK_SUBMITTERS,
        Math.ceilDiv(jobs, BULK),
        b -> {
          List<Contender.Job> some = new ArrayList<>(BULK);
          for (int i = b * BULK; i < Math.min(jobs, (b + 1) * BULK); i++) {
            some.add(recorder.job(i, due));
          }
          contender.bulk(some);
        });
  }

  private interface Body {
    void run(int index) throws Exception;
  }

  private static void parallel(int threads, int count, Body body) throws Exception {
    try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      AtomicInteger next = new AtomicInteger();
      List<Future<?>> futures = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        futures.add(
            executor.submit(
                () -> {
                  for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
                    body.run(i);
                  }
                  return null;
                }));
      }
      for (Future<?> future : futures) {
        future.get();
      }
    }
  }

  private static void awaitComplete(Recorder recorder, long until) {
    while (!recorder.complete() && System.currentTimeMillis() < until) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  private static long inAnHour() {
    return System.currentTimeMillis() + 3_600_000;
  }

  private Figure figure(String part, String metric, List<Double> values, String note) {
    return new Figure(
        part, who, metric, values.stream().mapToDouble(Double::doubleValue).toArray(), note);
  }

  /**
   * Rounds that are not measured. Compilers work for as long as a JVM is new: what is measured is
   * the rate at which rounds stop getting faster.
   */
  private final class WarmUp {

    private static final double FASTER = 1.1;
    private static final int AT_MOST = 3;

    private final long begin = System.nanoTime();
    private double best;
    private boolean over;

    /** Whether the round that has just ended counts. */
    boolean isOver(double rate) {
      boolean counts = over;
      double times = (System.nanoTime() - begin) / 1e9 / scale.warmUpSeconds();
      over |= times > AT_MOST || (times > 1 && rate < FASTER * best);
      best = Math.max(best, rate);
      return counts;
    }
  }

  /** Sums over the repetitions. */
  private static final class Accounts {

    private int missing;
    private int twice;
    private int early;

    void add(Recorder recorder) {
      missing += recorder.missing();
      twice += recorder.twice();
      early += recorder.early();
    }

    String text(String first) {
      List<String> words = new ArrayList<>();
      words.add(first);
      words.add(missing == 0 ? "" : missing + " MISSING");
      words.add(twice == 0 ? "" : twice + " TWICE");
      words.add(early == 0 ? "" : early + " EARLY");
      return String.join(", ", words.stream().filter(word -> !word.isEmpty()).toList());
    }
  }
}
