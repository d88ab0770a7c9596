package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.RedisServer;
import io.punctual.test.redis.RedisCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Redis Cluster: a primary dies, and a slot moves, under load. */
@Tag("full")
class ClusterIT {

  @Test
  void aSlotMovesAndAPrimaryDiesUnderLoadAndNothingIsLost() throws Exception {
    Workload load = Workload.of("cluster");
    try (RedisCluster redis = RedisCluster.startWithReplicas();
        JavaProcess scheduler =
            PROGRAMS.scheduler(REGISTRY, 1, load.application(), RedisOptions.of(redis)).start();
        JavaProcess worker = load.worker(REGISTRY).start()) {
      scheduler.awaitReady();
      worker.awaitReady();
      String key = "{" + load.application() + ":job:0}";
      try (Load _ = SchedulerDeathIT.load(load, List.of(scheduler), "sleep 100").start(60)) {
        Waiting.until("jobs run", () -> load.begun("").size() > 200);

        RedisServer before = redis.ownerOf(key);
        load.fault("the slot of the queue moves", () -> move(redis, key));
        assertThat(redis.ownerOf(key)).isNotSameAs(before);
        load.awaitLaterBegun(200);

        load.fault(
            "the primary is killed",
            () -> {
              RedisServer primary = owner(redis, key);
              primary.kill();
              Waiting.until("its replica took over", () -> owner(redis, key) != primary);
            });
        load.awaitLaterBegun(200);
      }
      load.awaitDrained(scheduler);
      Accounting accounting = load.account();
      assertThat(accounting.accepted()).isGreaterThan(600);
    }
  }

  private static void move(RedisCluster redis, String key) {
    try {
      redis.move(key);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static RedisServer owner(RedisCluster redis, String key) {
    try {
      return redis.ownerOf(key);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
