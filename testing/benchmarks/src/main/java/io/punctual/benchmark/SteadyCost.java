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

/** S1: what a job costs Redis and all schedulers at a steady load, by the number of schedulers. */
final class SteadyCost {

  /** How many schedulers there are, one after the other. */
  static final int[] SCHEDULERS = {1, 2, 4, 8};

  private static final int RATE = 200;
  private static final int QUEUES = 4;
  // The first jobs are due by then.
  private static final int FIRST_SECONDS = 6;

  private final Machine machine;
  private final Options options;
  private final Figures figures;

  SteadyCost(Machine machine, Options options, Figures figures) {
    this.machine = machine;
    this.options = options;
    this.figures = figures;
  }

  void run() throws Exception {
    System.out.printf("punctual: %d jobs/s in %d queues, a POST a job%n", RATE, QUEUES);
    try (RedisServer redis = machine.redis();
        Fleet fleet = machine.fleet(List.of(redis))) {
      for (int count : SCHEDULERS) {
        try (Contender contender =
            new PunctualService(fleet.grow(count).surroundings(), true, QUEUES)) {
          contender.open(Recorder::handle);
          measure(fleet, contender);
        }
      }
    }
  }

  private void measure(Fleet fleet, Contender contender) throws Exception {
    int windows = options.scale().repetitions();
    int window = Math.max(1, options.scaled(20));
    int warmUp = FIRST_SECONDS + options.scaled(15);
    int seconds = warmUp + windows * window;
    Recorder recorder = Recorder.begin(RATE * seconds);
    double[] calls = new double[windows];
    double[] store = new double[windows];
    double[] schedulers = new double[windows];
    try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
      Future<?> load =
          executor.submit(
              () -> {
                new Workload(contender).arrivals(recorder, RATE, seconds);
                return null;
              });
      TimeUnit.SECONDS.sleep(warmUp);
      for (int i = 0; i < windows; i++) {
        int ran = recorder.ran();
        long callsBefore = fleet.scriptCalls();
        double storeBefore = fleet.redisSeconds();
        double schedulersBefore = fleet.schedulerSeconds();
        TimeUnit.SECONDS.sleep(window);
        double jobs = recorder.ran() - ran;
        calls[i] = (fleet.scriptCalls() - callsBefore) / jobs;
        store[i] = (fleet.redisSeconds() - storeBefore) * 1e6 / jobs;
        schedulers[i] = (fleet.schedulerSeconds() - schedulersBefore) * 1e6 / jobs;
      }
      load.get();
    }
    Accounts accounts = new Accounts();
    accounts.add(recorder);
    String who = "schedulers: " + fleet.schedulers().size();
    String note = accounts.text("");
    figures.add(new Figure("S1", who, "script calls a job", calls, note));
    figures.add(new Figure("S1", who, "CPU us a job, Redis", store, note));
    figures.add(new Figure("S1", who, "CPU us a job, all schedulers", schedulers, note));
  }
}
