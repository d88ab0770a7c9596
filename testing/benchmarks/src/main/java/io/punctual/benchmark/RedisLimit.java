package io.punctual.benchmark;

import io.punctual.redis.RedisServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What Redis alone reaches, its load generator sharing the processors: redis-benchmark. */
final class RedisLimit {

  private static final String PROGRAM = "redis-benchmark";
  private static final String PUT =
      "redis.call('HSET',KEYS[1],ARGV[1],ARGV[2]) return redis.call('ZADD',KEYS[2],ARGV[3],ARGV[1])";
  private static final String TAKE =
      "local m=redis.call('ZPOPMIN',KEYS[2]) if not m[1] then return nil end"
          + " local b=redis.call('HGET',KEYS[1],m[1]) redis.call('HDEL',KEYS[1],m[1]) return b";
  private static final int PIPELINE = 32;

  private final Machine machine;
  private final Options options;
  private final Figures figures;

  RedisLimit(Machine machine, Options options, Figures figures) {
    this.machine = machine;
    this.options = options;
    this.figures = figures;
  }

  void run(List<String> parts) throws Exception {
    NotInstalledException.unless(PROGRAM);
    System.out.println("redis: EVAL of HSET and ZADD, and of ZPOPMIN, HGET and HDEL");
    double[][] rates = new double[3][options.scale().repetitions()];
    for (int i = -1; i < options.scale().repetitions(); i++) {
      try (RedisServer redis = machine.redis()) {
        int jobs = options.scaled(300_000);
        double one = rate(redis, jobs / 5, 1, PUT, "x".repeat(100));
        double bulk = rate(redis, jobs, PIPELINE, PUT, "x".repeat(100));
        double taken = rate(redis, jobs, PIPELINE, TAKE, "-");
        if (i >= 0) {
          rates[0][i] = one;
          rates[1][i] = bulk;
          rates[2][i] = taken;
        }
      }
    }
    List<String> all = List.of("A1", "A2", "C");
    for (int i = 0; i < all.size(); i++) {
      if (parts.contains(all.get(i))) {
        String note = i == 0 ? "one at a time, 16 connections" : "pipelines of " + PIPELINE;
        figures.add(new Figure(all.get(i), "redis", "jobs/s", rates[i], note));
      }
    }
  }

  private static double rate(RedisServer redis, int jobs, int pipeline, String script, String body)
      throws IOException {
    List<String> command =
        new ArrayList<>(List.of(PROGRAM, "-h", "127.0.0.1", "-p", "" + redis.port()));
    command.addAll(List.of("-n", "" + jobs, "-c", "16", "-P", "" + pipeline));
    command.addAll(List.of("-r", "2000000000", "--csv", "eval", script, "2", "h", "z"));
    command.addAll(List.of("__rand_int__", body, "__rand_int__"));
    String output = Machine.output(command.toArray(String[]::new));
    String last = Arrays.asList(output.strip().split("\n", -1)).getLast();
    // "name","requests per second",...; the script itself has no such separator.
    String[] fields = last.split("\",\"", -1);
    if (fields.length < 2) {
      throw new IOException("redis-benchmark said: " + output);
    }
    return Double.parseDouble(fields[1].replace("\"", ""));
  }
}
