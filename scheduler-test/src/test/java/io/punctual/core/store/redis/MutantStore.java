package io.punctual.core.store.redis;

import io.punctual.core.store.JobStore;
import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.redis.script.Confirmation;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.LuaScript;
import io.punctual.core.store.redis.script.Replicas;
import io.punctual.core.store.redis.script.ScriptRunner;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.core.store.redis.script.TimeSource;
import io.punctual.test.store.RedisBucketReader;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** A store on changed scripts. It is in this package to reach {@link RedisJobStore}. */
public final class MutantStore {

  /** The transitions. */
  public static final List<String> SCRIPTS =
      List.of(
          "submit",
          "claim",
          "settle",
          "extend",
          "expire",
          "cancel",
          "restore",
          "revise",
          "requeue",
          "purge",
          "find",
          "list",
          "tagged",
          "undoable",
          "pause",
          "limit",
          "lapse",
          "expiry",
          "hours",
          "opening",
          "events/remember",
          "events/remembered",
          "stats",
          "forecast");

  private MutantStore() {}

  /** The text of a script or include as it is shipped. */
  public static String shipped(String file) {
    return LuaScript.read(file);
  }

  private static Confirmation confirmation(RedisConnectionFactory connections, String prefix) {
    Replicas replicas = new Replicas(StoreOptions.DEFAULTS);
    return new Confirmation(
        Durability.DEFAULT,
        new RedisInspector(connections, StoreOptions.DEFAULTS, replicas, prefix + ":confirmed"),
        replicas);
  }

  /**
   * A store.
   *
   * @param files gives the text of a script or include by its name
   */
  public static JobStore of(
      RedisConnectionFactory connections,
      String prefix,
      Duration tombstones,
      UnaryOperator<String> files) {
    TimeSource time = RedisBucketReader.MOVABLE_TIME;
    ScriptRunner scripts =
        new ScriptRunner(
            connections,
            new Keys(prefix, time),
            LuaScript.all(file -> file.equals("lib/now") ? time.lua() : files.apply(file)),
            confirmation(connections, prefix),
            confirmation(connections, prefix),
            new StoreCalls());
    return new RedisJobStore(scripts, tombstones);
  }
}
