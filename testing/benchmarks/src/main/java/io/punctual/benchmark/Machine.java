package io.punctual.benchmark;

import io.punctual.benchmark.contender.Contenders;
import io.punctual.benchmark.contender.Surroundings;
import io.punctual.benchmark.contest.Contest;
import io.punctual.redis.RedisServer;
import io.punctual.systemtest.JavaProcess;
import io.punctual.systemtest.ModuleDirectory;
import io.punctual.systemtest.Programs;
import io.punctual.test.redis.RedisCluster;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Starts what takes part, each as a process of its own. */
final class Machine {

  private static final long PATIENCE_MINUTES = 15;

  private final Options options;
  private final Programs programs;

  Machine(Options options) {
    this.options = options;
    this.programs = new Programs(options.directory(), List.of("-Xmx512m"));
  }

  private String appendOnlyOption() {
    return options.appendOnly() ? "yes" : "no";
  }

  /** A cluster with nothing in it. */
  RedisCluster cluster(int primaries) {
    return RedisCluster.start(primaries, "--appendonly", appendOnlyOption());
  }

  /** A Redis with nothing in it. */
  RedisServer redis() {
    return RedisServer.startTemporary("--appendonly", appendOnlyOption());
  }

  /** A PostgreSQL with nothing in it, whose commits wait for the disk. */
  EmbeddedPostgres postgres() throws IOException {
    return postgres(true);
  }

  /**
   * A PostgreSQL with nothing in it.
   *
   * @param synchronous whether a commit waits for the disk
   */
  EmbeddedPostgres postgres(boolean synchronous) throws IOException {
    return EmbeddedPostgres.builder()
        .setServerConfig("shared_buffers", "1GB")
        .setServerConfig("max_wal_size", "4GB")
        .setServerConfig("synchronous_commit", synchronous ? "on" : "off")
        .start();
  }

  Programs programs() {
    return programs;
  }

  JavaProcess registry() {
    return programs.registry().start().awaitReady();
  }

  /** A web application of this module. */
  JavaProcess application(Class<?> main) {
    return programs.application(main, "--punctual.enabled=false").start().awaitReady();
  }

  /** What happens while a service is there. */
  interface Visit {
    void at(Surroundings surroundings) throws Exception;
  }

  /** A registry, and schedulers with these settings once it grows, on that Redis. */
  Fleet fleet(List<RedisServer> redis, String... settings) {
    return new Fleet(programs, redis, List.of(settings));
  }

  /** Starts Redis, a registry and schedulers for the time of a visit. */
  void service(int buckets, int count, Visit visit) throws Exception {
    service(count, List.of("--punctual.buckets=" + buckets), visit);
  }

  /** Starts one scheduler with these settings, and what it needs. */
  void service(List<String> settings, Visit visit) throws Exception {
    service(1, settings, visit);
  }

  private void service(int count, List<String> settings, Visit visit) throws Exception {
    try (RedisServer redis = redis()) {
      service(redis, count, settings, visit);
    }
  }

  /** Starts one scheduler with these settings on that Redis, and a registry. */
  void service(RedisServer redis, List<String> settings, Visit visit) throws Exception {
    service(redis, 1, settings, visit);
  }

  private void service(RedisServer redis, int count, List<String> settings, Visit visit)
      throws Exception {
    try (Fleet fleet = fleet(List.of(redis), settings.toArray(String[]::new))) {
      visit.at(fleet.grow(count).surroundings());
    }
  }

  /**
   * Runs parts on a contender that needs nothing but Redis.
   *
   * @param contender and what to call it behind a colon, if not so
   */
  void onRedis(String contender, List<String> parts, RedisServer redis) throws Exception {
    if (contender.startsWith("bullmq")) {
      bullMq(contender.substring(contender.indexOf(':') + 1), parts, redis);
    } else {
      contest(contender, parts, new Surroundings(redis.port(), "", "", 0, 0));
    }
  }

  private void bullMq(String who, List<String> parts, RedisServer redis) throws Exception {
    NotInstalledException.unless("npm");
    NotInstalledException.unless("node");
    Path source = ModuleDirectory.root().resolve("testing/benchmarks/src/main/node");
    Path copy = options.directory().resolve("bullmq").toAbsolutePath();
    Files.createDirectories(copy);
    for (String file : List.of("package.json", "package-lock.json", "bullmq.mjs")) {
      Files.copy(source.resolve(file), copy.resolve(file), StandardCopyOption.REPLACE_EXISTING);
    }
    run(
        "npm",
        List.of("npm", "install", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund"),
        copy);
    run(
        "bullmq",
        List.of(
            "node",
            "bullmq.mjs",
            who,
            figures().toString(),
            "" + redis.port(),
            String.join(",", parts),
            Options.argument(options.scale(), "bullmq")),
        copy);
  }

  /** Runs parts on a contender in a JVM of its own. */
  void contest(String contender, List<String> parts, Surroundings surroundings) {
    contest(contender, parts, surroundings, options.scale());
  }

  void contest(
      String contender,
      List<String> parts,
      Surroundings surroundings,
      Contest.Scale scale,
      String... flags) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xms512m",
                "-Xmx1g"));
    command.addAll(List.of(flags));
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            Contenders.class.getName(),
            contender,
            String.join(",", parts),
            figures().toString(),
            Options.argument(scale, contender)));
    command.addAll(surroundings.arguments());
    run(contender.replaceAll("\\W+", "-"), command, options.directory());
  }

  /** Runs a program to its end, its output being ours. */
  void run(String name, List<String> command, Path directory) {
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .directory(directory.toFile())
              .redirectOutput(ProcessBuilder.Redirect.INHERIT)
              .redirectError(
                  ProcessBuilder.Redirect.appendTo(
                      options.directory().resolve(name + ".err").toFile()));
      Process process = builder.start();
      Thread atExit = new Thread(process::destroyForcibly, "end-" + name);
      Runtime.getRuntime().addShutdownHook(atExit);
      if (!process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES)) {
        process.destroyForcibly();
        throw new IllegalStateException(name + " did not end in " + PATIENCE_MINUTES + " minutes");
      }
      Runtime.getRuntime().removeShutdownHook(atExit);
      if (process.exitValue() != 0) {
        throw new IllegalStateException(
            name + " ended with " + process.exitValue() + "; see " + name + ".err");
      }
    } catch (IOException e) {
      throw new IllegalStateException(name + " could not be started", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** The output of a short program. */
  static String output(String... command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  /** CPU time that a process has used, in seconds. */
  static double cpuSeconds(long pid) throws IOException {
    String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    // utime and stime, in ticks of 10 ms.
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / 100.0;
  }

  Path figures() {
    return options.directory().resolve("figures.jsonl").toAbsolutePath();
  }
}
