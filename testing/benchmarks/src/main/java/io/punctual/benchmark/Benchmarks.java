package io.punctual.benchmark;

import io.punctual.benchmark.contender.EmptyApplication;
import io.punctual.benchmark.contender.Surroundings;
import io.punctual.redis.Ports;
import io.punctual.redis.RedisServer;
import io.punctual.systemtest.JavaProcess;
import io.punctual.systemtest.ModuleDirectory;
import io.punctual.systemtest.Waiting;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/** The performance table: everything that takes part, one after the other, on this machine. */
public final class Benchmarks {

  private static final String[] COMPARED = {"A2", "C", "A1", "B", "D"};

  private final Options options;
  private final Machine machine;
  private final Figures figures;
  private final List<String> problems = new ArrayList<>();

  Benchmarks(Options options) {
    this.options = options;
    this.machine = new Machine(options);
    this.figures = new Figures(machine.figures());
  }

  /**
   * Measures what the system properties {@code bench.parts} and {@code bench.who} ask for, and
   * prints the table.
   *
   * @param args the directory for figures, logs and pictures
   */
  public static void main(String[] args) throws Exception {
    Benchmarks benchmarks = new Benchmarks(Options.ofProperties(Path.of(args[0])));
    Files.createDirectories(Path.of(args[0]));
    Files.deleteIfExists(benchmarks.machine.figures());
    long start = System.nanoTime();
    List<String> problems = benchmarks.run();
    System.out.println();
    System.out.println(new Table(benchmarks.figures.all()).text());
    System.out.printf("%d s in all%n", (System.nanoTime() - start) / 1_000_000_000);
    problems.forEach(System.out::println);
    System.exit(problems.isEmpty() ? 0 : 1);
  }

  /** Answers what went wrong. */
  List<String> run() {
    attempt("http", this::http, "A1");
    attempt(
        "redis", parts -> new RedisLimit(machine, options, figures).run(parts), "A1", "A2", "C");
    attempt("punctual", this::service, "A2", "C", "A1", "B", "B2", "D");
    attempt("punctual-single", this::service, "A1", "C1");
    attempt("punctual-plugin", this::onRedis, "A2", "C", "A1", "B");
    attempt("redisson", this::onRedis, COMPARED);
    attempt("bullmq", this::bullMq, COMPARED);
    attempt("beanstalkd", this::beanstalkd, COMPARED);
    attempt("db-scheduler", this::onPostgres, COMPARED);
    attempt("jobrunr", this::onPostgres, COMPARED);
    attempt("punctual", parts -> new IdleQueues(machine, options, figures).run(), "E");
    attempt("punctual", parts -> new PendingCost(machine, options, figures).run(), "F");
    attempt("punctual", parts -> new ColdStart(machine, options, figures).run(), "G");
    attempt("punctual", this::shards, "H");
    if (options.parts().contains("W")) {
      attempt("punctual", parts -> new Watching(machine).run(), "W");
    }
    if (options.parts().contains("K")) {
      attempt("punctual", parts -> new DurabilityCost(machine).run(), "K");
    }
    if (options.parts().contains("T")) {
      attempt("punctual", parts -> new Tuning(machine, options, figures).run(), "T");
    }
    return problems;
  }

  private interface Run {
    void run(List<String> parts) throws Exception;
  }

  private interface ContenderRun {
    void run(String contender, List<String> parts) throws Exception;
  }

  private void attempt(String contender, Run run, String... all) {
    attempt(contender, (same, parts) -> run.run(parts), all);
  }

  private void attempt(String contender, ContenderRun run, String... all) {
    List<String> parts = options.parts(contender, all);
    if (parts.isEmpty()) {
      return;
    }
    long start = System.nanoTime();
    try {
      run.run(contender, parts);
    } catch (Exception e) {
      problems.add(contender + " " + parts + " failed: " + e);
    }
    System.out.printf("  (%d s)%n", (System.nanoTime() - start) / 1_000_000_000);
  }

  private void http(List<String> parts) throws Exception {
    try (JavaProcess server = machine.application(EmptyApplication.class)) {
      machine.contest("http", parts, new Surroundings(0, "", server.url(), 0, 0));
    }
  }

  private void service(String contender, List<String> parts) throws Exception {
    machine.service(1, 1, around -> machine.contest(contender, parts, around));
  }

  private void onRedis(String contender, List<String> parts) throws Exception {
    try (RedisServer redis = machine.redis()) {
      machine.contest(contender, parts, new Surroundings(redis.port(), "", "", 0, 0));
    }
  }

  private void onPostgres(String contender, List<String> parts) throws Exception {
    try (EmbeddedPostgres postgres =
        EmbeddedPostgres.builder()
            .setServerConfig("shared_buffers", "1GB")
            .setServerConfig("max_wal_size", "4GB")
            .start()) {
      machine.contest(contender, parts, new Surroundings(0, "", "", postgres.getPort(), 0));
    }
  }

  private void beanstalkd(String contender, List<String> parts) throws Exception {
    if (!Machine.installed("beanstalkd")) {
      System.out.println("beanstalkd is not installed");
      return;
    }
    int port = Ports.free();
    Process process =
        new ProcessBuilder("beanstalkd", "-l", "127.0.0.1", "-p", "" + port)
            .redirectErrorStream(true)
            .redirectOutput(options.directory().resolve("beanstalkd.log").toFile())
            .start();
    try {
      Waiting.until("beanstalkd listens", () -> !Ports.isFree(port));
      machine.contest(contender, parts, new Surroundings(0, "", "", port, process.pid()));
    } finally {
      process.destroyForcibly();
    }
  }

  private void bullMq(String contender, List<String> parts) throws Exception {
    if (!Machine.installed("npm") || !Machine.installed("node")) {
      System.out.println("bullmq: node and npm are not installed");
      return;
    }
    Path source = ModuleDirectory.root().resolve("testing/benchmarks/src/main/node");
    Path copy = options.directory().resolve("bullmq").toAbsolutePath();
    Files.createDirectories(copy);
    for (String file : List.of("package.json", "package-lock.json", "bullmq.mjs")) {
      Files.copy(source.resolve(file), copy.resolve(file), StandardCopyOption.REPLACE_EXISTING);
    }
    machine.run(
        "npm",
        List.of("npm", "install", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"),
        copy);
    try (RedisServer redis = machine.redis()) {
      machine.run(
          contender,
          List.of(
              "node",
              "bullmq.mjs",
              machine.figures().toString(),
              "" + redis.port(),
              String.join(",", parts),
              Options.argument(options.scale(), contender)),
          copy);
    }
  }

  /** H: buckets and schedulers, against C, which has one of each. */
  private void shards(List<String> unused) throws Exception {
    boolean withoutC = !options.parts().isEmpty() && !options.parts().contains("C");
    int[][] shapes = withoutC ? new int[][] {{1, 1}, {4, 1}, {4, 3}} : new int[][] {{4, 1}, {4, 3}};
    for (int[] shape : shapes) {
      String who = "punctual:" + shape[0] + " buckets, " + shape[1] + " schedulers";
      machine.service(shape[0], shape[1], around -> machine.contest(who, List.of("H"), around));
    }
  }
}
