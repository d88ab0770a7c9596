package io.punctual.benchmark;

import io.punctual.benchmark.contender.EmptyApplication;
import io.punctual.benchmark.contender.Surroundings;
import io.punctual.redis.RedisServer;
import io.punctual.systemtest.JavaProcess;
import io.punctual.systemtest.ModuleDirectory;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
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
   * prints the report. With {@code bench.add} the figures of earlier runs stay in it, and with
   * {@code bench.publish} it goes into the documentation.
   *
   * @param args the directory for figures, logs and pictures
   */
  public static void main(String[] args) throws Exception {
    Path directory = Files.createDirectories(Path.of(args[0]));
    Benchmarks benchmarks = new Benchmarks(Options.ofProperties(directory));
    if (!Boolean.getBoolean("bench.add")) {
      Files.deleteIfExists(benchmarks.machine.figures());
    }
    benchmarks.figures.add(Origin.now());
    long start = System.nanoTime();
    List<String> problems = benchmarks.run();
    Report report = new Report(benchmarks.figures.all());
    System.out.println(report.text());
    report.write(directory.resolve("images"));
    Files.writeString(directory.resolve("report.md"), report.text());
    if (Boolean.getBoolean("bench.publish")) {
      report.publish(ModuleDirectory.root().resolve("docs/performance.md"));
    }
    System.out.printf("%d s in all%n", (System.nanoTime() - start) / 1_000_000_000);
    problems.forEach(System.out::println);
    System.exit(problems.isEmpty() ? 0 : 1);
  }

  /** Answers what went wrong. */
  List<String> run() {
    attempt("http", this::http, "A1", "A3");
    attempt(
        "redis", parts -> new RedisLimit(machine, options, figures).run(parts), "A1", "A2", "C");
    attempt("punctual", this::service, "A2", "C", "A1", "B", "B2", "D");
    attempt("punctual-single", this::service, "A1", "A3", "C1");
    attempt("punctual-plugin", this::onRedis, "A2", "C", "A1", "B");
    attempt("redisson", this::onRedis, COMPARED);
    attempt("bullmq", this::onRedis, COMPARED);
    attempt("beanstalkd", at(() -> Store.beanstalkd(options.directory())), COMPARED);
    attempt("db-scheduler", this::onPostgres, COMPARED);
    attempt("jobrunr", this::onPostgres, COMPARED);
    attempt("quartz", this::onPostgres, COMPARED);
    attempt("quartz-ram", this::alone, COMPARED);
    attempt("rabbitmq", at(Store::rabbitMq), COMPARED);
    attempt("artemis", at(Store::artemis), COMPARED);
    attempt("punctual", parts -> new IdleQueues(machine, options, figures).run(parts), "E", "S2");
    attempt("punctual", parts -> new PendingCost(machine, options, figures).run(), "F");
    attempt("punctual", parts -> new ColdStart(machine, options, figures).run(), "G");
    attempt("punctual", this::shards, "H");
    attempt("punctual", parts -> new SteadyCost(machine, options, figures).run(), "S1");
    attempt("punctual", parts -> new DrainCost(machine, options, figures).shapes(), "S3");
    attempt("punctual", parts -> new SchedulerLoss(machine, options, figures).run(), "S4");
    attempt("punctual", parts -> new DrainCost(machine, options, figures).payloads(), "P");
    attempt("punctual", parts -> new Endurance(machine, options, figures).run(), "L");
    if (options.parts().contains("W")) {
      attempt("punctual", parts -> new Watching(machine, options).work(), "W");
    }
    if (options.parts().contains("V")) {
      attempt("punctual", parts -> new Watching(machine, options).idle(), "V");
    }
    if (options.parts().contains("K")) {
      attempt("punctual", parts -> new DurabilityCost(machine).run(), "K");
    }
    if (options.parts().contains("R")) {
      RivalDurability rivals = new RivalDurability(machine);
      rivals.all().forEach((who, run) -> attempt(who, parts -> run.run(), "R"));
    }
    if (options.parts().contains("U")) {
      attempt("punctual", parts -> new ScriptCost(machine, options, figures).run(), "U");
    }
    if (options.parts().contains("T")) {
      attempt("punctual", parts -> new Tuning(machine, options).run(), "T");
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
    } catch (NotInstalledException e) {
      System.out.println(contender + " is left out: " + e.getMessage());
    } catch (Exception e) {
      String problem = contender + " " + parts + " failed: " + e;
      problems.add(problem);
      System.out.println(problem);
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
      machine.onRedis(contender, parts, redis);
    }
  }

  private void alone(String contender, List<String> parts) {
    machine.contest(contender, parts, new Surroundings(0, "", "", 0, 0));
  }

  private void onPostgres(String contender, List<String> parts) throws Exception {
    try (EmbeddedPostgres postgres = machine.postgres()) {
      machine.contest(contender, parts, new Surroundings(0, "", "", postgres.getPort(), 0));
    }
  }

  private interface Stores {
    Store start() throws Exception;
  }

  private ContenderRun at(Stores stores) {
    return (contender, parts) -> {
      try (Store store = stores.start()) {
        machine.contest(contender, parts, store.surroundings());
      }
    };
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
