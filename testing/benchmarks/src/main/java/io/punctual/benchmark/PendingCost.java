package io.punctual.benchmark;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.Ending;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Claim;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Submission;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** F: what a submit and a claim cost the store, the more jobs are pending in the same bucket. */
final class PendingCost {

  private static final Bucket BUCKET = new Bucket(new QueueName("bench", "job"), 0);
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final byte[] CONTENT = "x".repeat(116).getBytes(StandardCharsets.US_ASCII);
  private static final long DAY_MS = Duration.ofDays(1).toMillis();

  private static final int USES = 200_000;
  private static final String USE_TABLES =
      """
      for _, key in ipairs(redis.call('KEYS', '*')) do
        local kind = redis.call('TYPE', key).ok
        local use = kind == 'hash' and 'HEXISTS' or kind == 'zset' and 'ZSCORE'
        if use then
          for _ = 1, tonumber(ARGV[1]) do redis.call(use, key, '') end
        end
      end
      """;

  private final Machine machine;
  private final Options options;
  private final Figures figures;
  private final int measured;

  PendingCost(Machine machine, Options options, Figures figures) {
    this.machine = machine;
    this.options = options;
    this.figures = figures;
    this.measured = Math.max(JobStore.MAX_JOBS, options.scaled(20_000));
  }

  void run() throws Exception {
    System.out.println("punctual: submit and claim with many jobs pending");
    int[] sizes = {options.scaled(10_000), options.scaled(1_000_000), options.scaled(10_000_000)};
    try (RedisServer redis = machine.redis();
        StoreConnections connections = new StoreConnections(redis.port())) {
      JobStore store = connections.store().jobs();
      int pending = 0;
      int round = 0;
      for (int size : sizes) {
        fill(store, pending, size);
        pending = size;
        grow(redis.port(), size);
        settle(store, size);
        double[] submits = new double[options.scale().repetitions()];
        int rounds = options.scaled(5);
        double[] claims = new double[submits.length];
        for (int i = 0; i < submits.length; i++) {
          for (int k = 0; k < rounds; k++) {
            double[] micros = new double[2];
            measure(store, "m" + round++, micros);
            submits[i] += micros[0] / rounds;
            claims[i] += micros[1] / rounds;
          }
        }
        String note = String.format("%,d pending", size);
        figures.add(new Figure("F", "punctual", "submit, us/job, " + note, submits, ""));
        figures.add(new Figure("F", "punctual", "claim and ack, us/job, " + note, claims, ""));
      }
    }
  }

  // Redis lets a hash table that has become too small grow bit by bit, with each use of it: so
  // many uses as it has entries, and it has grown.
  private static void grow(int port, int size) throws IOException {
    for (int uses = 0; uses < size; uses += USES) {
      String unused = Resp.call(port, "EVAL", USE_TABLES, "0", Integer.toString(USES));
    }
  }

  // Until no round is cheaper than those before: compilers work.
  private void settle(JobStore store, int size) {
    double best = Double.MAX_VALUE;
    int since = 0;
    for (int round = 0; round < options.scaled(60) && since < 12; round++) {
      double[] micros = new double[2];
      measure(store, "s" + size + "-" + round, micros);
      double both = micros[0] + micros[1];
      since = both < 0.95 * best ? 0 : since + 1;
      best = Math.min(best, both);
    }
  }

  // As they come in, ten a second, each to be run a day later.
  private static void fill(JobStore store, int from, int to) throws Exception {
    long inADay = System.currentTimeMillis() + DAY_MS;
    try (ExecutorService executor = Executors.newFixedThreadPool(2)) {
      List<Future<?>> futures = new ArrayList<>();
      for (int half = 0; half < 2; half++) {
        int offset = half * JobStore.MAX_JOBS;
        futures.add(
            executor.submit(
                () -> {
                  for (int i = from + offset; i < to; i += 2 * JobStore.MAX_JOBS) {
                    List<Submission> jobs = new ArrayList<>();
                    for (int k = i; k < Math.min(to, i + JobStore.MAX_JOBS); k++) {
                      jobs.add(submission("p" + k, inADay + 100L * k));
                    }
                    store.submit(BUCKET, jobs);
                  }
                }));
      }
      for (Future<?> future : futures) {
        future.get();
      }
    }
  }

  private void measure(JobStore store, String prefix, double[] micros) {
    Random random = new Random(prefix.hashCode());
    long start = System.nanoTime();
    long due = System.currentTimeMillis() - 1000;
    for (int i = 0; i < measured; i += JobStore.MAX_JOBS) {
      List<Submission> jobs = new ArrayList<>();
      for (int k = i; k < i + JobStore.MAX_JOBS; k++) {
        jobs.add(submission(prefix + "-" + k, due + random.nextInt(900)));
      }
      store.submit(BUCKET, jobs);
    }
    micros[0] = (System.nanoTime() - start) / 1e3 / measured;
    start = System.nanoTime();
    int claimed = 0;
    LeaseToken token = new LeaseToken("benchmarktok");
    while (claimed < measured) {
      Claim claim =
          store.claim(BUCKET, JobStore.MAX_JOBS, LEASE, JobStore.ClaimMode.PUSH, token, "bench");
      List<Settlement> acks = new ArrayList<>();
      for (ClaimedJob job : claim.jobs()) {
        acks.add(
            new Settlement(
                Settlement.Op.DONE,
                job.taskId(),
                job.record().incarnation(),
                job.token(),
                Duration.ZERO,
                false,
                new byte[0],
                job.record(),
                new Ending(1, 1_795_404_840_123L, 4, "shop-1:8080")));
      }
      if (acks.isEmpty()) {
        throw new IllegalStateException("only " + claimed + " jobs were due");
      }
      store.settle(BUCKET, acks);
      claimed += acks.size();
    }
    micros[1] = (System.nanoTime() - start) / 1e3 / measured;
  }

  private static Submission submission(String id, long due) {
    return new Submission(id, "incarnation0", Due.at(due), 4, 0, List.of(), CONTENT, false);
  }
}
