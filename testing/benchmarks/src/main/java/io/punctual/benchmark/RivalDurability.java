package io.punctual.benchmark;

import io.punctual.benchmark.contender.Surroundings;
import io.punctual.redis.RedisServer;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * R: all on equal terms. Redis writes its append-only file and syncs it each second or before each
 * answer; commits of PostgreSQL do not wait for the disk, and messages of the brokers are not
 * written. What the table has is the opposite of each.
 */
final class RivalDurability {

  private static final List<String> WORK = List.of("A2", "C", "A1");
  private static final List<String> SYNCS = List.of("everysec", "always");

  private final Machine machine;

  RivalDurability(Machine machine) {
    this.machine = machine;
  }

  /** A contender's share. */
  interface Run {
    void run() throws Exception;
  }

  /** By contender. */
  Map<String, Run> all() {
    Map<String, Run> all = new LinkedHashMap<>();
    all.put(
        "punctual",
        () ->
            eachSync(
                (sync, redis) ->
                    machine.service(
                        redis,
                        List.of(),
                        around -> machine.contest(named("punctual", sync), WORK, around))));
    for (String who : List.of("punctual-plugin", "redisson", "bullmq")) {
      all.put(who, () -> eachSync((sync, redis) -> machine.onRedis(named(who, sync), WORK, redis)));
    }
    for (String who : List.of("db-scheduler", "jobrunr", "quartz")) {
      all.put(who, () -> asynchronous(who));
    }
    all.put("rabbitmq", () -> at(Store.rabbitMq(), "rabbitmq-transient:rabbitmq (transient)"));
    all.put("artemis", () -> at(Store.artemis(), "artemis-transient:artemis (not durable)"));
    return all;
  }

  private static String named(String who, String setting) {
    return who + ":" + who + " (" + setting + ")";
  }

  private interface OnRedis {
    void run(String sync, RedisServer redis) throws Exception;
  }

  private static void eachSync(OnRedis run) throws Exception {
    for (String sync : SYNCS) {
      try (RedisServer redis =
          RedisServer.startTemporary("--appendonly", "yes", "--appendfsync", sync)) {
        run.run("appendfsync " + sync, redis);
      }
    }
  }

  private void asynchronous(String who) throws Exception {
    try (EmbeddedPostgres postgres = machine.postgres(false)) {
      machine.contest(
          named(who, "synchronous_commit off"),
          WORK,
          new Surroundings(0, "", "", postgres.getPort(), 0));
    }
  }

  private void at(Store started, String who) throws Exception {
    try (Store store = started) {
      machine.contest(who, WORK, store.surroundings());
    }
  }
}
