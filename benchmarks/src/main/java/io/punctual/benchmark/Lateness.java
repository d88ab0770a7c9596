package io.punctual.benchmark;

import io.punctual.redis.RedisServer;
import io.punctual.systemtest.Accounting;
import io.punctual.systemtest.Execution;
import io.punctual.systemtest.JavaProcess;
import io.punctual.systemtest.Load;
import io.punctual.systemtest.Programs;
import io.punctual.systemtest.Submitter;
import io.punctual.systemtest.Waiting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * How late jobs begin: from the due time to the worker's first instruction, over HTTP, on one
 * registry, one Redis with its append-only file, one scheduler and one worker, all on this machine.
 */
public final class Lateness {

  private static final List<String> FLAGS = List.of("-Xmx512m");
  private static final Duration MIN_DELAY = Duration.ofSeconds(2);
  private static final Duration MAX_DELAY = Duration.ofSeconds(5);

  private Lateness() {}

  /**
   * What to measure.
   *
   * @param perSecond jobs submitted each second
   * @param seconds for how long
   * @param warmUpSeconds how long before that the same load runs without being measured, so that
   *     the JVMs have compiled what they run
   */
  record Options(int perSecond, int seconds, int warmUpSeconds) {

    static Options ofProperties() {
      return new Options(
          Integer.getInteger("lateness.rate", 50),
          Integer.getInteger("lateness.seconds", 60),
          Integer.getInteger("lateness.warmup", 15));
    }
  }

  /** What came out. */
  record Result(Options options, Distribution lateness, Accounting accounting) {

    boolean sound() {
      return accounting.sound() && accounting.repeated().isEmpty();
    }

    String text() {
      return """
          Lateness: %d jobs, %d/s, each due %d to %d s after its submit; from due time to the worker's first instruction
            %s
            early %d, missing %d, twice %d
          %s"""
          .formatted(
              lateness.count(),
              options.perSecond(),
              MIN_DELAY.toSeconds(),
              MAX_DELAY.toSeconds(),
              lateness.line(),
              accounting.early().size(),
              accounting.lost().size(),
              accounting.repeated().size(),
              lateness.histogram());
    }

    String json() {
      return String.format(
          Locale.ROOT,
          "{\"benchmark\":\"lateness\",\"at\":\"%s\",\"rate\":%d,\"seconds\":%d,%s,"
              + "\"early\":%d,\"missing\":%d,\"twice\":%d,\"processors\":%d,\"java\":\"%s\"}",
          Instant.now(),
          options.perSecond(),
          options.seconds(),
          lateness.json(),
          accounting.early().size(),
          accounting.lost().size(),
          accounting.repeated().size(),
          Runtime.getRuntime().availableProcessors(),
          Runtime.version());
    }
  }

  /**
   * Measures once, prints the distribution, and adds a line to {@code lateness.jsonl}.
   *
   * @param args the directory for results, logs and records
   */
  public static void main(String[] args) throws IOException {
    Path directory = Path.of(args[0]);
    Result result = measure(Options.ofProperties(), directory);
    System.out.println(result.text());
    Files.writeString(
        directory.resolve("lateness.jsonl"),
        result.json() + "\n",
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
    System.exit(result.sound() ? 0 : 1);
  }

  static Result measure(Options options, Path directory) throws IOException {
    Files.createDirectories(directory);
    Path record = directory.resolve("lateness.record");
    Files.deleteIfExists(record);
    Programs programs = new Programs(directory, FLAGS);
    Submitter warmUp = new Submitter("lateness");
    Submitter submitter = new Submitter("lateness");
    try (RedisServer redis = RedisServer.startTemporary();
        JavaProcess registry = programs.registry().start().awaitReady();
        JavaProcess scheduler =
            programs.scheduler(registry, redis.port(), "lateness").start().awaitReady();
        JavaProcess worker = programs.worker(registry, "lateness", record).start().awaitReady()) {
      run(warmUp, "warm-up-", scheduler, options.perSecond(), options.warmUpSeconds());
      run(submitter, "job-", scheduler, options.perSecond(), options.seconds());
      Waiting.until("all jobs of " + worker.url() + " ran", () -> submitter.drained(scheduler));
    }
    List<Execution> executions =
        Execution.read(record).stream()
            .filter(execution -> execution.taskId().startsWith("job-"))
            .toList();
    Accounting accounting = Accounting.of(submitter.history(), executions, List.of());
    Map<String, Long> due = submitter.history().attempted();
    List<Long> lateness =
        executions.stream()
            .filter(execution -> due.containsKey(execution.taskId()))
            .map(execution -> execution.begin() - due.getOrDefault(execution.taskId(), 0L) * 1000)
            .toList();
    return new Result(options, new Distribution(lateness), accounting);
  }

  private static void run(
      Submitter submitter, String prefix, JavaProcess scheduler, int perSecond, int seconds) {
    try (Load load =
        new Load(submitter, List.of(scheduler), prefix, "record", MIN_DELAY, MAX_DELAY)) {
      load.start(perSecond);
      Waiting.until(
          "the load was sent",
          Duration.ofSeconds(seconds + 60L),
          () -> load.sent() >= perSecond * seconds);
    }
  }
}
