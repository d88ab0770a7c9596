package io.punctual.systemtest;

import io.punctual.redis.RedisServer;
import io.punctual.systemtest.ChangedJobs.Job;
import io.punctual.test.redis.RedisCluster;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** As {@link AcknowledgedChangesHoldIT}: a slot moves, and a replica takes over. */
@Tag("full")
class AcknowledgedChangesHoldInClusterIT {

  @Test
  void everyPairOfAcknowledgedChangesHoldsWhileASlotMovesAndAPrimaryDies() throws Exception {
    Workload load = Workload.of("changes-cluster");
    String key = "{" + load.application() + ":job:0}";
    try (RedisCluster redis = RedisCluster.startWithReplicas()) {
      ChangedJobs.onTwoSchedulers(
          load,
          RedisOptions.of(redis),
          changes -> {
            List<Job> jobs = changes.changed("moved-");
            redis.move(key);
            changes.awaitDeliveries("moved-marker-");
            changes.judge("Cluster, the slot moves", jobs, Map.of());

            List<Job> more = changes.changed("killed-");
            RedisServer primary = redis.ownerOf(key);
            primary.kill();
            Waiting.until("its replica took over", () -> redis.ownerOf(key) != primary);
            // Nothing is acknowledged without a replica.
            primary.start();
            changes.awaitDeliveries("killed-marker-");
            changes.judge("Cluster, the primary is killed", more, Map.of());
            changes.judge("Cluster, the slot moved before", jobs, Map.of());
          });
    }
  }
}
