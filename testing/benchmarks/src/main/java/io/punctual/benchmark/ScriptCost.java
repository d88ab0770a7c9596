package io.punctual.benchmark;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.Ending;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Submission;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** U: the time of Redis that each script takes a job, by the number and the size of jobs. */
final class ScriptCost {

  private static final Bucket BUCKET = new Bucket(new QueueName("bench", "job"), 0);
  private static final LeaseToken TOKEN = new LeaseToken("benchmarktok");
  private static final Pattern MICROS = Pattern.compile("cmdstat_evalsha:calls=\\d+,usec=(\\d+)");
  private static final List<String> SCRIPTS = List.of("submit", "claim", "settle");

  private final Machine machine;
  private final Options options;
  private final Figures figures;

  ScriptCost(Machine machine, Options options, Figures figures) {
    this.machine = machine;
    this.options = options;
    this.figures = figures;
  }

  void run() throws Exception {
    try (RedisServer redis = machine.redis();
        StoreConnections connections = new StoreConnections(redis.port())) {
      JobStore store = connections.store().jobs();
      for (int batch : new int[] {1, JobStore.MAX_JOBS}) {
        for (int bytes : new int[] {100, 10_000}) {
          int jobs = options.scaled(batch == 1 ? 4_000 : 20_000) / batch * batch;
          double[][] micros = new double[SCRIPTS.size()][options.scale().repetitions()];
          for (int round = -1; round < options.scale().repetitions(); round++) {
            double[] measured = round(redis.port(), store, batch, bytes, Math.max(batch, jobs));
            for (int i = 0; round >= 0 && i < measured.length; i++) {
              micros[i][round] = measured[i];
            }
          }
          for (int i = 0; i < micros.length; i++) {
            String metric =
                String.format(
                    Locale.ROOT,
                    "%s, us of Redis a job, %d a call, %d bytes",
                    SCRIPTS.get(i),
                    batch,
                    bytes);
            figures.add(new Figure("U", "punctual", metric, micros[i], ""));
          }
        }
      }
    }
  }

  private static double[] round(int port, JobStore store, int batch, int bytes, int jobs)
      throws IOException {
    Random random = new Random(bytes);
    byte[] content = new byte[bytes + 16];
    random.nextBytes(content);
    long due = System.currentTimeMillis() - 1000;
    Deque<List<ClaimedJob>> claimed = new ArrayDeque<>();
    Resp.call(port, "CONFIG", "RESETSTAT");
    for (int i = 0; i < jobs; i += batch) {
      List<Submission> submissions = new ArrayList<>();
      for (int k = i; k < i + batch; k++) {
        submissions.add(
            new Submission(
                "m" + k,
                "i" + Long.toString(random.nextLong() & 0x3ff_ffff, 36),
                Due.at(due + random.nextInt(900)),
                4,
                0,
                List.of(),
                content,
                false));
      }
      store.submit(BUCKET, submissions);
    }
    double submit = micros(port, jobs);
    for (int got = 0; got < jobs; got += claimed.getLast().size()) {
      claimed.add(
          store
              .claim(BUCKET, batch, Duration.ofSeconds(30), JobStore.ClaimMode.PUSH, TOKEN, "bench")
              .jobs());
    }
    double claim = micros(port, jobs);
    for (List<ClaimedJob> ended : claimed) {
      store.settle(
          BUCKET,
          ended.stream()
              .map(
                  job ->
                      new Settlement(
                          Settlement.Op.DONE,
                          job.taskId(),
                          job.record().incarnation(),
                          job.token(),
                          Duration.ZERO,
                          false,
                          new byte[0],
                          job.record(),
                          new Ending(1, 1_795_404_840_123L, 4, "shop-1:8080")))
              .toList());
    }
    double settle = micros(port, jobs);
    Resp.call(port, "FLUSHALL");
    return new double[] {submit, claim, settle};
  }

  // Since this was asked last.
  private static double micros(int port, int jobs) throws IOException {
    Matcher found = MICROS.matcher(Resp.call(port, "INFO", "commandstats"));
    if (!found.find()) {
      throw new IOException("INFO commandstats knows no EVALSHA");
    }
    Resp.call(port, "CONFIG", "RESETSTAT");
    return Double.parseDouble(found.group(1)) / jobs;
  }
}
