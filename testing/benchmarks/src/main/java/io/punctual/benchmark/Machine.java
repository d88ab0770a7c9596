package io.punctual.benchmark;

import io.punctual.benchmark.contender.Contenders;
import io.punctual.benchmark.contender.Surroundings;
import io.punctual.benchmark.contest.Contest;
import io.punctual.redis.RedisServer;
import io.punctual.systemtest.JavaProcess;
import io.punctual.systemtest.Programs;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
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

  /** A Redis with nothing in it. */
  RedisServer redis() {
    return RedisServer.startTemporary("--appendonly", options.appendOnly() ? "yes" : "no");
  }

  Programs programs() {
    return programs;
  }

  JavaProcess registry() {
    return programs.registry().start().awaitReady();
  }

  /** A web application of this module. */
  JavaProcess application(Class<?> main) {
    return programs
        .application(main, "--punctual.enabled=false")
        .start()
        .awaitReady();
  }

  /** What happens while a service is there. */
  interface Visit {
    void at(Surroundings surroundings) throws Exception;
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
    List<JavaProcess> schedulers = new ArrayList<>();
    try (JavaProcess registry = registry()) {
      for (int i = 0; i < count; i++) {
        schedulers.add(
            programs
                .scheduler(
                    registry,
                    redis.port(),
                    StoreConnections.PREFIX,
                    settings.toArray(String[]::new))
                .start());
      }
      schedulers.forEach(JavaProcess::awaitReady);
      String urls = String.join(",", schedulers.stream().map(JavaProcess::url).toList());
      visit.at(new Surroundings(redis.port(), registry.url(), urls, 0, 0));
    } finally {
      schedulers.forEach(JavaProcess::close);
    }
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

  /** Whether a program is installed. */
  static boolean installed(String program) {
    return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
        .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
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
