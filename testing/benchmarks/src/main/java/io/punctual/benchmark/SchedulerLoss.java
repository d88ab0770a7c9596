package io.punctual.benchmark;

import io.punctual.benchmark.contender.PunctualService;
import io.punctual.benchmark.contest.Contender;
import io.punctual.benchmark.contest.Recorder;
import io.punctual.benchmark.contest.Workload;
import io.punctual.redis.RedisServer;
import io.punctual.systemtest.JavaProcess;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** S4: how late jobs are that fall due when one of two schedulers has just been killed. */
final class SchedulerLoss {

  private static final int SCHEDULERS = 2;
  private static final int RATE = 200;
  private static final int QUEUES = 4;
  private static final int LOAD_SECONDS = 5;
  private static final int BEFORE_SECONDS = 5;
  private static final int AFTER_SECONDS = 20;

  private final Machine machine;
  private final Options options;
  private final Figures figures;

  SchedulerLoss(Machine machine, Options options, Figures figures) {
    this.machine = machine;
    this.options = options;
    this.figures = figures;
  }

  void run() throws Exception {
    System.out.printf("punctual: %d jobs/s, one of %d schedulers is killed%n", RATE, SCHEDULERS);
    int repetitions = options.scale().repetitions();
    double[][] late = new double[3][repetitions];
    int missing = 0;
    int twiceBefore = 0;
    int twiceAfter = 0;
    int early = 0;
    try (RedisServer redis = machine.redis();
        Fleet fleet = machine.fleet(List.of(redis)).grow(SCHEDULERS);
        Contender contender = new PunctualService(fleet.surroundings(), false, QUEUES)) {
      contender.open(Recorder::handle);
      Workload workload = new Workload(contender);
      workload.warmUp(options.scale().warmUpSeconds(), options.scale().drained() / 5);
      for (int i = 0; i < repetitions; i++) {
        contender.clear();
        int jobs = RATE * (BEFORE_SECONDS + AFTER_SECONDS);
        Recorder recorder = Recorder.begin(jobs);
        long due = System.currentTimeMillis() + TimeUnit.SECONDS.toMillis(LOAD_SECONDS);
        workload.load(recorder, jobs, due, RATE);
        long kill = due + TimeUnit.SECONDS.toMillis(BEFORE_SECONDS);
        TimeUnit.MILLISECONDS.sleep(Math.max(0, kill - System.currentTimeMillis()));
        JavaProcess killed = fleet.schedulers().get(i % SCHEDULERS);
        long at = System.currentTimeMillis();
        killed.kill();
        recorder.awaitComplete(due + jobs * 1000L / RATE + TimeUnit.MINUTES.toMillis(1));
        int first = (int) Math.min(jobs - 1L, (at - due) * RATE / 1000 + 1);
        Distribution distribution = new Distribution(recorder.lateness(first, jobs));
        late[0][i] = distribution.percentileMillis(50);
        late[1][i] = distribution.percentileMillis(99);
        late[2][i] = distribution.maxMillis();
        missing += recorder.missing();
        twiceBefore += recorder.twice(0, first);
        twiceAfter += recorder.twice(first, jobs);
        early += recorder.early();
        killed.start().awaitReady();
      }
    }
    String note =
        "due in the %d s after the kill; twice of those due before: %d"
                .formatted(AFTER_SECONDS, twiceBefore)
            + (missing + twiceAfter + early == 0
                ? ""
                : ", %d MISSING, %d TWICE, %d EARLY".formatted(missing, twiceAfter, early));
    List<String> metrics = List.of("p50 ms", "p99 ms", "max ms");
    for (int i = 0; i < metrics.size(); i++) {
      figures.add(new Figure("S4", "punctual", metrics.get(i), late[i], note));
    }
  }
}
