package io.punctual.benchmark;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.systemtest.Waiting;
import java.util.ArrayList;
import java.util.List;

/**
 * K: what each level of durability costs, with a Redis alone or with a replica on the same machine,
 * which shares its processors. Each level starts its own processes.
 */
final class DurabilityCost {

  private static final List<String> WORK = List.of("A2", "C", "A1");
  private static final String LEVEL = "--punctual.durability=";

  private final Machine machine;

  DurabilityCost(Machine machine) {
    this.machine = machine;
  }

  void run() throws Exception {
    measure("alone", List.of(), LEVEL + "auto");
    withReplica("replica, redis", LEVEL + "redis");
    withReplica("replica, auto", LEVEL + "auto");
    withReplica("replica, replicated:1", LEVEL + "replicated:1");
    withReplica("replica, auto, ends", LEVEL + "auto", "--punctual.durability-of-ends=true");
    measure(
        "alone, synced",
        List.of("--appendonly", "yes", "--appendfsync", "always"),
        LEVEL + "synced");
  }

  private void measure(String name, List<String> redisArguments, String... settings)
      throws Exception {
    List<String> arguments = new ArrayList<>(List.of("--appendonly", "no"));
    arguments.addAll(redisArguments);
    try (RedisServer redis = RedisServer.startTemporary(arguments.toArray(String[]::new))) {
      measure(name, redis, settings);
    }
  }

  private void withReplica(String name, String... settings) throws Exception {
    try (RedisServer redis = machine.redis();
        RedisServer replica =
            RedisServer.startTemporary(
                "--appendonly", "no", "--replicaof", "127.0.0.1", "" + redis.port())) {
      Waiting.until(
          "the replica is connected",
          () -> Resp.call(replica.port(), "INFO", "replication").contains("link_status:up"));
      measure(name, redis, settings);
    }
  }

  private void measure(String name, RedisServer redis, String... settings) throws Exception {
    machine.service(
        redis,
        List.of(settings),
        around -> machine.contest("punctual:punctual (" + name + ")", WORK, around));
  }
}
