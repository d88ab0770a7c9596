package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/**
 * Many schedules, three schedulers, of which one after the other is killed, and a Redis and a
 * registry that are away for a while: each planned instant gets one job, and one only. There is no
 * worker, so that all jobs are there in the end; the counter of submits tells whether one was there
 * twice.
 */
@Tag("full")
class SchedulesUnderFaultsIT {

  private static final String APPLICATION = "recurring";
  private static final String TYPE = "tick";
  private static final int SCHEDULERS = 3;

  /** How many schedules, and how often each of them fires within a distance that suits them. */
  private static final int COUNT = Integer.getInteger("punctual.schedules", 1_000);

  private static final int ROUNDS = 3;
  private static final Duration EVERY = Duration.ofSeconds(Math.max(10, COUNT / 800));

  /** How long idle schedules are watched. */
  private static final Duration IDLE = Duration.ofSeconds(COUNT < 100_000 ? 5 : 60);

  private static final long SEED = Long.getLong("punctual.schedules.seed", System.nanoTime());

  private final List<JavaProcess> schedulers = new ArrayList<>();

  private String base() {
    return schedulers.get(0).url() + "/api/v1";
  }

  /** The instants at which a schedule is to fire, reckoned without the program. */
  private static List<Instant> planned(Instant begin, int schedule) {
    Instant first = begin.plusMillis(EVERY.toMillis() * schedule / COUNT);
    return IntStream.range(0, ROUNDS)
        .mapToObj(round -> first.plusMillis(EVERY.toMillis() * round))
        .toList();
  }

  private void put(Instant begin) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
      List<Future<Integer>> answers = new ArrayList<>();
      for (int i = 0; i < COUNT; i++) {
        int schedule = i;
        List<Instant> planned = planned(begin, i);
        String json =
            """
            {"every":%d,"anchor":"%s","until":"%s","missed":"all","whileRunning":"start"}\
            """
                .formatted(EVERY.toMillis(), planned.get(0), planned.get(ROUNDS - 1));
        String path = "/api/v1/schedules/" + APPLICATION + "/" + TYPE + "/s" + i;
        answers.add(
            threads.submit(
                () -> Http.put(schedulers.get(schedule % SCHEDULERS).url() + path, json).status()));
      }
      for (Future<Integer> answer : answers) {
        assertThat(answer.get()).isEqualTo(201);
      }
    }
  }

  /** CPU time of the schedulers and Redis, in seconds. */
  private double cpu(RedisServer redis) throws IOException {
    double seconds = cpuSeconds(redis.pid());
    for (JavaProcess scheduler : schedulers) {
      seconds += cpuSeconds(scheduler.pid());
    }
    return seconds;
  }

  private static double cpuSeconds(long pid) throws IOException {
    String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    // utime and stime, in ticks of 10 ms.
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / 100.0;
  }

  private static void until(Instant moment) {
    Duration left = Duration.between(Instant.now(), moment);
    // On a slow machine, a start that a fault waits for may take longer than to the next one.
    if (!left.isNegative()) {
      Waiting.until("it is " + moment, left.plusSeconds(10), () -> Instant.now().isAfter(moment));
    }
  }

  /** The part of a core that is used while nothing fires. */
  private double idle(RedisServer redis) throws IOException {
    // What was just done has to be compiled and collected first.
    until(Instant.now().plus(IDLE));
    long begin = System.nanoTime();
    double before = cpu(redis);
    until(Instant.now().plus(IDLE));
    return (cpu(redis) - before) / ((System.nanoTime() - begin) / 1e9);
  }

  @Test
  void eachPlannedInstantGetsOneJobWhateverBreaks() throws Exception {
    Random random = new Random(SEED);
    try (RedisServer redis = RedisServer.startTemporary("--appendfsync", "everysec");
        JavaProcess registry = PROGRAMS.registry().start().awaitReady()) {
      try {
        for (int i = 0; i < SCHEDULERS; i++) {
          schedulers.add(
              PROGRAMS
                  .scheduler(
                      registry,
                      redis.port(),
                      "recurring",
                      "--punctual.buckets=16",
                      "--punctual.max-schedules=" + COUNT)
                  .start());
        }
        schedulers.forEach(JavaProcess::awaitReady);
        double without = idle(redis);
        // They are put at some hundreds a second, beside other tests at a tenth of that. They are
        // watched before they fire.
        Instant begin =
            Instant.ofEpochSecond(Instant.now().getEpochSecond())
                .plusSeconds(40 + COUNT / 400)
                .plus(IDLE.multipliedBy(2));
        put(begin);
        double with = idle(redis);
        System.out.printf(
            "%,d idle schedules: %.1f %% of a core, %.1f %% without (%d schedulers and Redis);"
                + " they begin %s later%n",
            COUNT, 100 * with, 100 * without, SCHEDULERS, Duration.between(Instant.now(), begin));
        assertThat(Instant.now()).as("all were put before the first was due").isBefore(begin);

        breakThings(random, begin, redis, registry);

        Instant last = planned(begin, COUNT - 1).get(ROUNDS - 1);
        until(last);
        account(begin);
        if (COUNT >= 100_000) {
          assertThat(with - without).as("CPU of idle schedules").isLessThan(0.03);
        }
      } finally {
        schedulers.forEach(JavaProcess::close);
      }
    }
  }

  /** Something breaks in each part of the time in which schedules fire, in a random order. */
  private void breakThings(Random random, Instant begin, RedisServer redis, JavaProcess registry) {
    List<Integer> faults = new ArrayList<>(List.of(0, 1, 2, 3, 4, 5, 6));
    Collections.shuffle(faults, random);
    Duration part = EVERY.multipliedBy(ROUNDS).dividedBy(faults.size() + 1);
    for (int i = 0; i < faults.size(); i++) {
      until(begin.plus(part.multipliedBy(i + 1)));
      int fault = faults.get(i);
      System.out.println("seed " + SEED + ", fault " + fault + " at " + Instant.now());
      switch (fault) {
        case 5 -> {
          redis.kill();
          until(Instant.now().plusSeconds(2));
          redis.start();
        }
        case 6 -> {
          registry.kill();
          until(Instant.now().plusSeconds(2));
          registry.start();
        }
        default -> {
          JavaProcess victim = schedulers.get(fault % SCHEDULERS);
          victim.kill();
          victim.start();
        }
      }
    }
    schedulers.forEach(JavaProcess::awaitReady);
  }

  private void account(Instant begin) throws IOException {
    Set<String> missing = new TreeSet<>();
    for (int i = 0; i < COUNT; i++) {
      for (Instant planned : planned(begin, i)) {
        missing.add("s" + i + "@" + planned);
      }
    }
    int expected = missing.size();
    Waiting.until("all have fired", Duration.ofMinutes(5), () -> waiting().intValue() >= expected);
    List<String> foreign = new ArrayList<>();
    for (String id : ids()) {
      if (!missing.remove(id)) {
        foreign.add(id);
      }
    }
    JsonNode queue = Http.get(base() + "/queues/" + APPLICATION + "/" + TYPE).json();
    int submitted = queue.at("/counters/submitted").intValue();
    System.out.printf(
        "%,d schedules, %,d instants: %d missing, %d foreign, %d twice%n",
        COUNT, expected, missing.size(), foreign.size(), submitted - expected);
    assertThat(missing).isEmpty();
    assertThat(foreign).isEmpty();
    assertThat(submitted).as("jobs that were ever made").isEqualTo(expected);
    Waiting.until("all schedules have moved on to their ends", () -> fired() == expected);
  }

  private JsonNode waiting() throws IOException {
    return Http.get(base() + "/queues/" + APPLICATION + "/" + TYPE).json().at("/delayed");
  }

  /** What the schedules themselves have counted. */
  private int fired() throws IOException {
    int fired = 0;
    for (JsonNode schedule : all("/schedules?limit=200&application=" + APPLICATION)) {
      fired += schedule.at("/counts/fired").intValue();
      assertThat(schedule.at("/counts/skipped").intValue()).isZero();
      assertThat(schedule.at("/counts/missed").intValue()).isZero();
    }
    return fired;
  }

  private List<String> ids() throws IOException {
    return all(
            "/jobs?state=delayed&limit=500&application=%s&taskType=%s".formatted(APPLICATION, TYPE))
        .stream()
        .map(job -> job.get("taskId").stringValue())
        .toList();
  }

  private List<JsonNode> all(String query) throws IOException {
    List<JsonNode> items = new ArrayList<>();
    String cursor = "";
    while (true) {
      JsonNode page = Http.get(base() + query + cursor).json();
      page.get("items").forEach(items::add);
      if (page.get("nextCursor").isNull()) {
        return items;
      }
      cursor =
          "&cursor="
              + URLEncoder.encode(page.get("nextCursor").stringValue(), StandardCharsets.UTF_8);
    }
  }
}
