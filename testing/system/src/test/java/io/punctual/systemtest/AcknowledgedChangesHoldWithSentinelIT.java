package io.punctual.systemtest;

import io.punctual.systemtest.ChangedJobs.Found;
import io.punctual.systemtest.ChangedJobs.Job;
import io.punctual.test.redis.RedisSentinels;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** As {@link AcknowledgedChangesHoldIT}: Sentinels let a replica take over from its master. */
@Tag("full")
class AcknowledgedChangesHoldWithSentinelIT {

  @Test
  void everyPairOfAcknowledgedChangesHoldsOverTwoFailOvers() throws Exception {
    Workload load = Workload.of("changes-sentinel");
    // A process that stalls for less than this is not failed over.
    try (RedisSentinels redis = RedisSentinels.start(Duration.ofSeconds(5))) {
      ChangedJobs.onTwoSchedulers(
          load, RedisOptions.of(redis), changes -> failOverTwice(redis, changes));
    }
  }

  private static void failOverTwice(RedisSentinels redis, ChangedJobs changes) throws Exception {
    int first = redis.firstMaster().port();

    List<Job> jobs = changes.changed("killed-");
    Map<Job, Set<Found>> unconfirmed =
        changes.unconfirmed("killed-unconfirmed-", redis::isolateReplicas);
    long before = changes.looks(first);
    Waiting.until("the schedulers look again", () -> changes.looks(first) > before + 4);
    redis.firstMaster().kill();
    Waiting.until("the replica is the master", () -> redis.master() != first);
    // Nothing is acknowledged without a replica.
    redis.restoreMaster();
    changes.awaitDeliveries("killed-marker-");
    changes.judge("Sentinel, the master is killed", jobs, unconfirmed);

    jobs = changes.changed("frozen-");
    redis.firstReplica().suspend();
    Waiting.until("the first master is the master again", () -> redis.master() == first);
    redis.firstReplica().resume();
    changes.awaitDeliveries("frozen-marker-");
    changes.judge("Sentinel, the master is frozen", jobs, Map.of());
  }
}
