package io.punctual.benchmark;

import io.punctual.redis.RedisServer;
import io.punctual.systemtest.Http;
import io.punctual.systemtest.JavaProcess;
import io.punctual.systemtest.Programs;
import io.punctual.systemtest.Waiting;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What 10,000 queues cost whose jobs are far in the future: E with one scheduler, S2 with more. */
final class IdleQueues {

  private static final int QUEUES = 10_000;
  private static final int BATCH = 1000;
  private static final Pattern MEMORY =
      Pattern.compile("(Java Heap|Thread) \\(reserved=\\d+KB, committed=(\\d+)KB\\)");

  private final Machine machine;
  private final Options options;
  private final Figures figures;

  IdleQueues(Machine machine, Options options, Figures figures) {
    this.machine = machine;
    this.options = options;
    this.figures = figures;
  }

  void run(List<String> parts) throws Exception {
    int queues = options.scaled(QUEUES);
    System.out.println("punctual: " + queues + " idle queues");
    Programs programs =
        new Programs(options.directory(), List.of("-Xmx512m", "-XX:NativeMemoryTracking=summary"));
    int[] counts = parts.contains("S2") ? SteadyCost.SCHEDULERS : new int[] {1};
    try (RedisServer redis = machine.redis();
        Fleet fleet = new Fleet(programs, List.of(redis), List.of()).grow(1)) {
      submit(fleet.schedulers().get(0), queues);
      for (int count : counts) {
        JavaProcess scheduler = fleet.grow(count).schedulers().getLast();
        Waiting.until("all queues are known", () -> known(scheduler, queues));
        rest();
        Cost cost = cost(fleet, options.scale().repetitions(), options.scaled(10));
        if (parts.contains("S2")) {
          add("S2", "schedulers: " + count, cost, queues);
        }
        if (parts.contains("E") && count == 1) {
          add("E", "punctual", cost, queues);
          double[] memory = {megabytes(scheduler.pid())};
          figures.add(
              new Figure("E", "punctual", "MB of heap and stacks", memory, queues + " queues"));
        }
      }
      JavaProcess last = fleet.schedulers().getLast();
      Waiting.until(
          "a job of the last queue is handed out", () -> popped(last, "type" + (queues - 1)));
    }
  }

  interface Visit {
    void at(Fleet fleet) throws Exception;
  }

  /** Starts one scheduler, and visits it once it knows all queues. */
  void served(Visit visit) throws Exception {
    int queues = options.scaled(QUEUES);
    Programs programs = new Programs(options.directory(), List.of("-Xmx512m"));
    try (RedisServer redis = machine.redis();
        Fleet fleet = new Fleet(programs, List.of(redis), List.of()).grow(1)) {
      JavaProcess scheduler = fleet.schedulers().get(0);
      submit(scheduler, queues);
      Waiting.until("all queues are known", () -> known(scheduler, queues));
      visit.at(fleet);
    }
  }

  /**
   * Waits until the scheduler has counted the jobs of new queues for the quota, which takes 50 s,
   * and the compiler has done most of its work.
   */
  void rest() throws InterruptedException {
    TimeUnit.SECONDS.sleep(options.scaled(90));
  }

  /** Adds the figures of the next minute, as one: garbage collections are part of them. */
  void measure(String part, String who, Fleet fleet) throws Exception {
    add(part, who, cost(fleet, 1, options.scaled(60)), options.scaled(QUEUES));
  }

  /** CPU seconds a minute, one for each window. */
  private record Cost(double[] both, double[] redis) {}

  private static Cost cost(Fleet fleet, int windows, long seconds) throws Exception {
    Cost cost = new Cost(new double[windows], new double[windows]);
    for (int i = 0; i < windows; i++) {
      double schedulers = fleet.schedulerSeconds();
      double redis = fleet.redisSeconds();
      TimeUnit.SECONDS.sleep(seconds);
      cost.redis[i] = (fleet.redisSeconds() - redis) * 60 / seconds;
      cost.both[i] = (fleet.schedulerSeconds() - schedulers) * 60 / seconds + cost.redis[i];
    }
    return cost;
  }

  private void add(String part, String who, Cost cost, int queues) {
    String note = queues + " queues";
    figures.add(new Figure(part, who, "CPU s/min, schedulers and Redis", cost.both, note));
    figures.add(new Figure(part, who, "CPU s/min, Redis", cost.redis, note));
  }

  private static void submit(JavaProcess scheduler, int queues) throws IOException {
    long due = System.currentTimeMillis() + Duration.ofDays(2).toMillis();
    for (int from = 0; from < queues; from += BATCH) {
      List<String> jobs = new ArrayList<>();
      for (int i = from; i < Math.min(queues, from + BATCH); i++) {
        jobs.add(
            """
            {"application":"idle","taskType":"type%d","taskId":"far","delayTime":%d,"params":"%s"}"""
                .formatted(i, due, "x".repeat(100)));
      }
      Http.Answer answer =
          Http.post(
              scheduler.url() + "/api/v1/jobs/batch",
              "{\"jobs\":[" + String.join(",", jobs) + "]}");
      if (answer.status() != 200) {
        throw new IOException("batch refused: " + answer);
      }
    }
  }

  private static boolean known(JavaProcess scheduler, int queues) throws IOException {
    String last = scheduler.url() + "/api/v1/queues/idle/type" + (queues - 1);
    return Http.get(last).json().path("delayed").intValue() == 1;
  }

  private static boolean popped(JavaProcess scheduler, String type) throws IOException {
    Http.Answer unused =
        Http.post(
            scheduler.url() + "/api/v1/jobs",
            """
            {"application":"idle","taskType":"%s","taskId":"now","delay":0,"params":""}"""
                .formatted(type));
    Http.Answer popped =
        Http.post(
            scheduler.url() + "/api/v1/command",
            """
            {"command":"pop","application":"idle","topic":"%s","timeout":5}"""
                .formatted(type));
    return popped.body().contains("\"now\"");
  }

  private static double megabytes(long pid) throws IOException {
    String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    String summary = Machine.output(jcmd, "" + pid, "VM.native_memory", "summary");
    Matcher matcher = MEMORY.matcher(summary);
    double kilobytes = 0;
    while (matcher.find()) {
      kilobytes += Double.parseDouble(matcher.group(2));
    }
    return kilobytes / 1024;
  }
}
