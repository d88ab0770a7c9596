package io.punctual.benchmark;

import io.punctual.benchmark.contender.PunctualService;
import io.punctual.benchmark.contest.Accounts;
import io.punctual.benchmark.contest.Contender;
import io.punctual.benchmark.contest.Recorder;
import io.punctual.benchmark.contest.WarmUp;
import io.punctual.benchmark.contest.Workload;
import io.punctual.redis.RedisServer;
import io.punctual.test.redis.RedisCluster;
import java.io.IOException;
import java.util.List;

/** What a job of C costs in CPU time. */
final class DrainCost {

  private static final String BUCKETS = "--punctual.buckets=";
  private static final int[][] SHAPES = {{1, 1}, {1, 3}, {4, 1}, {4, 3}};
  private static final int[] PRIMARIES = {1, 2, 4};
  private static final int CLUSTER_BUCKETS = 8;
  private static final int[] PAYLOADS = {Recorder.PAYLOAD, 10_000};

  private final Machine machine;
  private final Options options;
  private final Figures figures;

  DrainCost(Machine machine, Options options, Figures figures) {
    this.machine = machine;
    this.options = options;
    this.figures = figures;
  }

  /** S3: by buckets, schedulers and nodes of a Redis Cluster. */
  void shapes() throws Exception {
    System.out.println("punctual: CPU of everything in C");
    for (int[] shape : SHAPES) {
      try (RedisServer redis = machine.redis();
          Fleet fleet = machine.fleet(List.of(redis), BUCKETS + shape[0]).grow(shape[1])) {
        measure(
            "S3",
            "buckets: %d, schedulers: %d".formatted(shape[0], shape[1]),
            fleet,
            options.scale().drained(),
            Recorder.PAYLOAD);
      }
    }
    for (int primaries : PRIMARIES) {
      try (RedisCluster cluster = machine.cluster(primaries);
          Fleet fleet =
              machine
                  .fleet(
                      cluster.nodes(),
                      "--spring.data.redis.cluster.nodes=" + String.join(",", cluster.addresses()),
                      BUCKETS + CLUSTER_BUCKETS)
                  .grow(1)) {
        measure(
            "S3",
            "buckets: %d, primaries: %d".formatted(CLUSTER_BUCKETS, primaries),
            fleet,
            options.scale().drained(),
            Recorder.PAYLOAD);
      }
    }
  }

  /** P: by the size of the params. */
  void payloads() throws Exception {
    System.out.println("punctual: C with larger params");
    for (int payload : PAYLOADS) {
      try (RedisServer redis = machine.redis();
          Fleet fleet = machine.fleet(List.of(redis)).grow(1)) {
        measure(
            "P", "%,d bytes".formatted(payload), fleet, options.scale().drained() * 2 / 5, payload);
      }
    }
  }

  private void measure(String part, String who, Fleet fleet, int jobs, int payload)
      throws Exception {
    int repetitions = options.scale().repetitions();
    double[] rates = new double[repetitions];
    double[] all = new double[repetitions];
    double[] store = new double[repetitions];
    Accounts accounts = new Accounts();
    long nodes;
    try (Contender contender = new PunctualService(fleet.surroundings(), false, 1)) {
      contender.open(Recorder::handle);
      Workload workload = new Workload(contender);
      WarmUp warmUp = new WarmUp(options.scale().warmUpSeconds());
      int round = 0;
      Meter meter = new Meter(fleet);
      while (round < repetitions) {
        Workload.Drained drained = workload.drain(jobs, payload, meter);
        double everything = fleet.seconds() - meter.everything;
        double redis = fleet.redisSeconds() - meter.redis;
        if (warmUp.isOver(drained.rate())) {
          accounts.add(drained.recorder());
          rates[round] = drained.rate();
          all[round] = everything * 1e6 / jobs;
          store[round++] = redis * 1e6 / jobs;
        }
      }
      nodes = fleet.nodesInUse();
    }
    String note = accounts.text(jobs + " jobs" + (nodes == 1 ? "" : ", on " + nodes + " nodes"));
    figures.add(new Figure(part, who, "jobs/s", rates, note));
    figures.add(new Figure(part, who, "CPU us a job, everything, once all are stored", all, note));
    figures.add(new Figure(part, who, "CPU us a job, Redis, submit included", store, note));
  }

  private static final class Meter implements Workload.Stages {

    private final Fleet fleet;
    private double redis;
    private double everything;

    Meter(Fleet fleet) {
      this.fleet = fleet;
    }

    @Override
    public void begin() throws IOException {
      redis = fleet.redisSeconds();
    }

    @Override
    public void loaded() throws IOException {
      everything = fleet.seconds();
    }
  }
}
