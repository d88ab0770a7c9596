package io.punctual.benchmark;

import io.punctual.benchmark.contender.PunctualService;
import io.punctual.benchmark.contest.Accounts;
import io.punctual.benchmark.contest.Contender;
import io.punctual.benchmark.contest.Recorder;
import io.punctual.benchmark.contest.Workload;
import io.punctual.redis.RedisServer;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** L: B for minutes on end, the last minute beside the first. */
final class Endurance {

  // By then jobs fall due as fast as they arrive.
  private static final int FIRST_SECONDS = 5;

  private final Machine machine;
  private final Options options;
  private final Figures figures;

  Endurance(Machine machine, Options options, Figures figures) {
    this.machine = machine;
    this.options = options;
    this.figures = figures;
  }

  void run() throws Exception {
    int rate = options.scale().rate();
    int minutes = options.minutes();
    int minute = Math.max(5, options.scaled(60));
    int seconds = FIRST_SECONDS + minute * minutes;
    System.out.printf("punctual: %d jobs/s for %d minutes%n", rate, minutes);
    double[] store = new double[minutes];
    Recorder recorder;
    try (RedisServer redis = machine.redis();
        Fleet fleet = machine.fleet(List.of(redis)).grow(1);
        Contender contender = new PunctualService(fleet.surroundings(), false, 1);
        ExecutorService executor = Executors.newSingleThreadExecutor()) {
      contender.open(Recorder::handle);
      Workload workload = new Workload(contender);
      workload.warmUp(options.scale().warmUpSeconds(), options.scale().drained());
      contender.clear();
      recorder = Recorder.begin(rate * seconds);
      Recorder round = recorder;
      Future<?> load =
          executor.submit(
              () -> {
                workload.arrivals(round, rate, seconds);
                return null;
              });
      TimeUnit.SECONDS.sleep(FIRST_SECONDS);
      for (int i = 0; i < minutes; i++) {
        int ran = recorder.ran();
        double before = fleet.redisSeconds();
        TimeUnit.SECONDS.sleep(minute);
        store[i] = (fleet.redisSeconds() - before) * 1e6 / (recorder.ran() - ran);
      }
      load.get();
    }
    double[] p99 = new double[minutes];
    for (int i = 0; i < minutes; i++) {
      int from = i * minute * rate;
      p99[i] = new Distribution(recorder.lateness(from, from + minute * rate)).percentileMillis(99);
    }
    Accounts accounts = new Accounts();
    accounts.add(recorder);
    String note = accounts.text(minutes + " minutes");
    add("p99 ms", p99, note);
    add("CPU us a job, Redis", store, note);
  }

  private void add(String metric, double[] minutes, String note) {
    String whole = "each of " + note;
    figures.add(new Figure("L", "punctual", metric + ", each minute", minutes, whole));
    figures.add(
        new Figure("L", "punctual", metric + ", first minute", new double[] {minutes[0]}, note));
    double last = minutes[minutes.length - 1];
    figures.add(new Figure("L", "punctual", metric + ", last minute", new double[] {last}, note));
  }
}
