package io.punctual.benchmark;

import io.punctual.benchmark.contender.Surroundings;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.systemtest.JavaProcess;
import io.punctual.systemtest.Programs;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A registry and schedulers, each a process, on a Redis; and what they and Redis use. */
final class Fleet implements AutoCloseable {

  private static final Pattern SCRIPT_CALLS =
      Pattern.compile("cmdstat_(?:evalsha|eval|fcall):calls=(\\d+)");

  private final Programs programs;
  private final List<RedisServer> redis;
  private final List<String> settings;
  private final JavaProcess registry;
  private final List<JavaProcess> schedulers = new ArrayList<>();

  /**
   * Starts a registry, and no scheduler.
   *
   * @param redis one, or the primaries of a cluster that the settings name
   * @param settings of each scheduler
   */
  Fleet(Programs programs, List<RedisServer> redis, List<String> settings) {
    this.programs = programs;
    this.redis = List.copyOf(redis);
    this.settings = List.copyOf(settings);
    this.registry = programs.registry().start().awaitReady();
  }

  /** Starts schedulers, one after the other, until there are that many. */
  Fleet grow(int count) {
    while (schedulers.size() < count) {
      JavaProcess scheduler =
          programs.scheduler(
              registry,
              redis.get(0).port(),
              StoreConnections.PREFIX,
              settings.toArray(String[]::new));
      schedulers.add(scheduler);
      scheduler.start().awaitReady();
    }
    return this;
  }

  List<JavaProcess> schedulers() {
    return schedulers;
  }

  Surroundings surroundings() {
    String urls = String.join(",", schedulers.stream().map(JavaProcess::url).toList());
    return new Surroundings(redis.get(0).port(), registry.url(), urls, 0, 0);
  }

  /** CPU time of Redis, in seconds. */
  double redisSeconds() throws IOException {
    double seconds = 0;
    for (RedisServer server : redis) {
      seconds += Machine.cpuSeconds(server.pid());
    }
    return seconds;
  }

  /** CPU time of all schedulers, in seconds. */
  double schedulerSeconds() throws IOException {
    double seconds = 0;
    for (JavaProcess scheduler : schedulers) {
      seconds += Machine.cpuSeconds(scheduler.pid());
    }
    return seconds;
  }

  /** CPU time of Redis, all schedulers and this process, which is submitter and worker. */
  double seconds() throws IOException {
    return redisSeconds() + schedulerSeconds() + Machine.cpuSeconds(ProcessHandle.current().pid());
  }

  /** How many scripts Redis has run. */
  long scriptCalls() throws IOException {
    long calls = 0;
    for (RedisServer server : redis) {
      Matcher matcher = SCRIPT_CALLS.matcher(Resp.call(server.port(), "INFO", "commandstats"));
      while (matcher.find()) {
        calls += Long.parseLong(matcher.group(1));
      }
    }
    return calls;
  }

  /** How many nodes of Redis hold keys. */
  long nodesInUse() throws IOException {
    long used = 0;
    for (RedisServer server : redis) {
      used += Resp.call(server.port(), "DBSIZE").equals("0") ? 0 : 1;
    }
    return used;
  }

  @Override
  public void close() {
    schedulers.forEach(JavaProcess::close);
    registry.close();
  }
}
