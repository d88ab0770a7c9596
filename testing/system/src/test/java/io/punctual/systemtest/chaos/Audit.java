package io.punctual.systemtest.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.Http;
import io.punctual.systemtest.JavaProcess;
import io.punctual.systemtest.Programs;
import io.punctual.systemtest.Waiting;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;
import tools.jackson.databind.JsonNode;

/**
 * What has been left behind when everything has drained: in Redis no key but those of an idle
 * store, and no more memory, threads and files than after the start, but for a generous factor.
 */
final class Audit {

  // A submit whose answer was lost is repeated for less than that.
  private static final Duration TOMBSTONES = Duration.ofMinutes(1);
  // A cancelled job is kept for ten minutes.
  private static final Duration GONE = Duration.ofMinutes(11);
  // Some 650 were seen.
  private static final long TOMBSTONE_BYTES = 1_000;

  private static final Pattern USED = Pattern.compile("punctual_in_use\\{what=\"(.*)\"} (.*)");
  private static final Set<String> IN_USE =
      Set.of(
          "answer_bytes",
          "body_bytes",
          "callers",
          "calls",
          "deliveries",
          "engine",
          "pulls",
          "suspects");

  private final ChaosSystem system;
  private final String application;
  private final Set<String> lasting;
  // Tombstones and cancelled jobs.
  private final Set<String> expiring;
  private final long redisMemory;
  private final List<Footprint> footprints;

  /**
   * Measures what is used after the start.
   *
   * @param application its name is the key prefix, too
   */
  Audit(ChaosSystem system, String application, Collection<String> types) throws IOException {
    this.system = system;
    this.application = application;
    // docs/redis-keys.md has all keys. Jobs, leases, tries, errors and tags belong to jobs.
    // The journal has an entry for each time when no scheduler watched Redis for seconds.
    // A fail-over to an older state is a loss.
    this.lasting =
        new TreeSet<>(
            Set.of(
                application + ":queues",
                application + ":epoch",
                application + ":members",
                application + ":confirmed",
                application + ":journal",
                application + ":losses"));
    this.expiring = new TreeSet<>();
    for (String type : types) {
      for (int i = 0; i < ChaosSystem.BUCKETS; i++) {
        String bucket = application + ":{" + application + ":" + type + ":" + i + "}:";
        lasting.addAll(Set.of(bucket + "stats", bucket + "confirmed"));
        Stream.of("done", "tombs", "cancelled", "kept").map(bucket::concat).forEach(expiring::add);
      }
    }
    this.redisMemory = redisMemory();
    this.footprints = footprints();
  }

  /** Waits until each scheduler knows all workers: the first jobs are not held up by starts. */
  void awaitWorkers() {
    for (JavaProcess scheduler : system.schedulers()) {
      Waiting.until(scheduler + " knows all workers", () -> idle(scheduler));
    }
  }

  /** An option of schedulers: how long they keep tombstones. */
  static String option() {
    return "--punctual.tombstones=" + TOMBSTONES.toSeconds() + "s";
  }

  /**
   * Looks at what is left: nothing of jobs in Redis, no job at an instance in the eyes of any
   * scheduler, and nothing in use in any scheduler or worker. Ends the pullers.
   *
   * @param length of the run: one that is longer than tombstones live waits until the last is gone
   */
  void judge(Duration length) throws IOException {
    // Each request that waits is in use: the figures are not 0 because nobody counts.
    Waiting.until("pullers wait for jobs", () -> pullsWait());
    for (JavaProcess worker : system.workers()) {
      Waiting.until(worker + " has all places free", () -> isFree(worker));
    }
    for (JavaProcess puller : system.pullers()) {
      Waiting.until(puller + " has all places free", () -> isFree(puller));
      puller.terminate();
    }
    for (JavaProcess scheduler : system.schedulers()) {
      Waiting.until(scheduler + " has nothing in flight", () -> idle(scheduler));
      awaitNothingInUse(scheduler);
    }
    assertThat(leftOver()).as("keys that a drained store does not have").isEmpty();
    if (length.compareTo(TOMBSTONES) > 0) {
      Waiting.until(
          "tombstones and cancelled jobs are gone", GONE, () -> lasting.containsAll(keys()));
    }
    for (int i = 0; i < footprints.size(); i++) {
      JavaProcess scheduler = system.schedulers().get(i);
      Footprint before = footprints.get(i);
      // Those that nobody uses are kept for some twenty seconds.
      Waiting.until(
          scheduler + " closes connections", () -> Footprint.hasClosed(scheduler, before));
    }
    long redisNow = redisMemory();
    List<Footprint> now = footprints();
    System.out.printf(
        "chaos: memory of Redis %d, of then %d bytes; schedulers %s, of then %s%n",
        redisNow, redisMemory, now, footprints);
    assertThat(redisNow)
        .as("memory of Redis, bytes")
        .isLessThan(2 * redisMemory + 2_000_000 + tombstones() * TOMBSTONE_BYTES);
    for (int i = 0; i < now.size(); i++) {
      now.get(i).judge(footprints.get(i));
    }
  }

  /**
   * Whether all scanners run, all instances are known, and none of them has a job of that
   * scheduler, so that all of its concurrency is free.
   */
  private boolean idle(JavaProcess scheduler) throws IOException {
    int known = 0;
    JsonNode workers =
        Http.get(scheduler.url() + "/api/v1/workers?application=" + application).json();
    for (JsonNode worker : workers.get("items")) {
      known++;
      if (worker.get("inFlight").intValue() != 0) {
        return false;
      }
    }
    String metrics = Http.getText(scheduler.url() + "/actuator/prometheus").body();
    return known == system.workers().size()
        && metrics.lines().anyMatch("punctual_scanners{state=\"ended\"} 0.0"::equals);
  }

  private static boolean isFree(JavaProcess worker) throws IOException {
    JsonNode found = Http.get(worker.url() + "/actuator/punctual").json();
    return found.get("running").intValue() == 0
        && found.get("free").intValue() == found.get("concurrency").intValue();
  }

  private boolean pullsWait() throws IOException {
    for (JavaProcess scheduler : system.schedulers()) {
      if (inUse(scheduler).getOrDefault("pulls", 0.0) > 0) {
        return true;
      }
    }
    return false;
  }

  private static void awaitNothingInUse(JavaProcess scheduler) {
    AtomicReference<Map<String, Double>> last = new AtomicReference<>(Map.of());
    try {
      Waiting.until(
          scheduler + " has nothing in use",
          () -> {
            last.set(inUse(scheduler));
            return last.get().values().stream().allMatch(amount -> amount == 0);
          });
    } catch (ConditionTimeoutException e) {
      throw new AssertionError(scheduler + " has in use: " + last, e);
    }
    assertThat(last.get().keySet()).isEqualTo(IN_USE);
  }

  private static Map<String, Double> inUse(JavaProcess scheduler) throws IOException {
    Map<String, Double> found = new TreeMap<>();
    String metrics = Http.getText(scheduler.url() + "/actuator/prometheus").body();
    for (String line : metrics.lines().toList()) {
      Matcher matcher = USED.matcher(line);
      if (matcher.matches()) {
        found.put(matcher.group(1), Double.parseDouble(matcher.group(2)));
      }
    }
    return found;
  }

  private Set<String> leftOver() {
    Set<String> left = new TreeSet<>(keys());
    left.removeAll(lasting);
    for (String key : expiring) {
      // Minus one is one that stays for good, minus two one that is not there.
      if (Long.parseLong(system.callRedis("PTTL", key)) != -1) {
        left.remove(key);
      }
    }
    return left;
  }

  /** Returns how many tombstones are there: all of them in a run that is shorter than they live. */
  private long tombstones() {
    return expiring.stream()
        .filter(key -> key.endsWith(":done"))
        .mapToLong(key -> Long.parseLong(system.callRedis("ZCARD", key)))
        .sum();
  }

  private Set<String> keys() {
    Set<String> keys = new TreeSet<>(system.callRedis("KEYS", "*").lines().toList());
    // A scheduler that ran to make a start cache, on a clean build, leaves its own behind.
    keys.removeIf(key -> key.startsWith(Programs.TRAINING + ":"));
    // What schedulers remember of a day has its bounds.
    keys.removeIf(key -> key.contains(":history"));
    return keys;
  }

  private long redisMemory() {
    return system
        .callRedis("INFO", "memory")
        .lines()
        .filter(line -> line.startsWith("used_memory:"))
        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1).strip()))
        .findFirst()
        .orElseThrow();
  }

  private List<Footprint> footprints() throws IOException {
    List<Footprint> all = new ArrayList<>();
    for (JavaProcess scheduler : system.schedulers()) {
      all.add(Footprint.of(scheduler));
    }
    return all;
  }
}
