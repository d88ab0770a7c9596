package io.punctual.benchmark.contest;

import io.punctual.benchmark.Distribution;
import io.punctual.benchmark.Figure;
import io.punctual.benchmark.Figures;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The work, on one contender, part by part. */
public final class Contest {

  private static final int CALLERS = 1_000;

  private final String who;
  private final Contender contender;
  private final Workload workload;
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
      int stored) {

    /**
     * Returns the same with another number of rounds.
     *
     * @param ofLateness rounds of B
     */
    public Scale repeated(int rounds, int ofLateness) {
      return new Scale(
          warmUpSeconds,
          rounds,
          ofLateness,
          submits,
          submitSeconds,
          rate,
          seconds,
          drained,
          stored);
    }
  }

  /** Names the contender and says what its figures are called. */
  public Contest(String who, Contender contender, Scale scale, Figures figures) {
    this.who = who;
    this.contender = contender;
    this.workload = new Workload(contender);
    this.scale = scale;
    this.figures = figures;
  }

  /** Runs the parts in the order given: A1, A2, A3, B, B2 behind C, C, C1, D, H. */
  public void run(List<String> parts) throws Exception {
    System.out.println(who + ": " + contender.description());
    contender.open(Recorder::handle);
    double drainRate = 0;
    for (String part : parts) {
      switch (part) {
        case "A1", "A2", "A3" -> submit(part);
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

  private void submit(String part) throws Exception {
    if (part.equals("A2") && contender.bulkCall() == null) {
      return;
    }
    List<Double> rates = new ArrayList<>();
    WarmUp warmUp = new WarmUp(scale.warmUpSeconds());
    while (rates.size() < scale.repetitions()) {
      int jobs = 0;
      double seconds = 0;
      do {
        jobs += scale.submits();
        seconds += submitOnce(part);
      } while (seconds < scale.submitSeconds());
      if (warmUp.isOver(jobs / seconds)) {
        rates.add(jobs / seconds);
      }
    }
    contender.clear();
    figures.add(figure(part, "jobs/s", rates, part.equals("A2") ? contender.bulkCall() + "" : ""));
  }

  private double submitOnce(String part) throws Exception {
    int jobs = scale.submits();
    contender.clear();
    Recorder recorder = Recorder.begin(jobs);
    long before = contender.pending();
    long start = System.nanoTime();
    switch (part) {
      case "A2" -> workload.load(recorder, jobs, inAnHour());
      case "A3" -> workload.submit(recorder, CALLERS, jobs, inAnHour());
      default -> workload.submit(recorder, jobs, inAnHour());
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    long stored = contender.pending() - before;
    if (stored != jobs) {
      throw new IllegalStateException(who + " holds " + stored + " jobs more, not " + jobs);
    }
    return seconds;
  }

  private void lateness(String part, int rate, int seconds) throws Exception {
    List<Distribution> distributions = new ArrayList<>();
    List<Recorder> recorders = new ArrayList<>();
    Accounts accounts = new Accounts();
    for (int repetition = 1; repetition <= scale.latenessRepetitions(); repetition++) {
      contender.clear();
      Recorder recorder = Recorder.begin(rate * seconds);
      workload.arrivals(recorder, rate, seconds);
      accounts.add(recorder);
      recorders.add(recorder);
      distributions.add(new Distribution(recorder.lateness()));
    }
    String note = accounts.text(part.equals("B2") ? rate + " jobs/s" : "");
    Map<String, Double> percentiles = new LinkedHashMap<>();
    percentiles.put("p50 ms", 50.0);
    percentiles.put("p90 ms", 90.0);
    percentiles.put("p99 ms", 99.0);
    percentiles.put("max ms", 100.0);
    percentiles.forEach(
        (metric, percent) ->
            figures.add(
                figure(
                    part,
                    metric,
                    distributions.stream().map(one -> one.percentileMillis(percent)).toList(),
                    note)));
    long[] all = recorders.stream().flatMapToLong(one -> Arrays.stream(one.lateness())).toArray();
    figures.add(
        new Figure(part, who, Figure.DISTRIBUTION, new Distribution(all).curveMillis(), note));
  }

  private double drain(String part) throws Exception {
    List<Double> rates = new ArrayList<>();
    Accounts accounts = new Accounts();
    int jobs = Math.min(scale.drained(), contender.mostDrained());
    WarmUp warmUp = new WarmUp(scale.warmUpSeconds());
    while (rates.size() < scale.repetitions()) {
      Workload.Drained drained = workload.drain(jobs, Recorder.PAYLOAD, new Workload.Stages() {});
      if (warmUp.isOver(drained.rate())) {
        accounts.add(drained.recorder());
        rates.add(drained.rate());
      }
    }
    Figure figure =
        figure(part, "jobs/s", rates, accounts.text(jobs < scale.drained() ? jobs + " jobs" : ""));
    figures.add(figure);
    return figure.median();
  }

  private void memory(String part) throws Exception {
    contender.clear();
    workload.load(Recorder.begin(1000), 1000, inAnHour());
    long before = contender.storeBytes();
    if (before < 0) {
      return;
    }
    long had = contender.pending();
    workload.load(Recorder.begin(scale.stored()), scale.stored(), inAnHour());
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

  private static long inAnHour() {
    return System.currentTimeMillis() + 3_600_000;
  }

  private Figure figure(String part, String metric, List<Double> values, String note) {
    return new Figure(
        part, who, metric, values.stream().mapToDouble(Double::doubleValue).toArray(), note);
  }
}
