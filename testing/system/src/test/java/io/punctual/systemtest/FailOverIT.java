package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.Resp;
import io.punctual.test.redis.RedisSentinels;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Redis fails over to a replica that has not heard of the last changes. */
@Tag("full")
class FailOverIT {

  // Longer than a stall of the test machine, so that only a kill causes a fail-over.
  private static final Duration DOWN_AFTER = Duration.ofSeconds(5);

  private static JsonNode store(JavaProcess scheduler) throws IOException {
    return Http.get(scheduler.url() + "/api/v1/store").json();
  }

  private static String queue(Workload load, JavaProcess scheduler) {
    return scheduler.url() + "/api/v1/queues/" + load.application() + "/job";
  }

  /** Holds the jobs back, however long the fail-over takes. */
  private static void pause(Workload load, JavaProcess scheduler) {
    String pause = queue(load, scheduler) + "/pause";
    Waiting.until("the queue is paused", () -> Http.post(pause, "").status() == 200);
  }

  private static void resume(Workload load, JavaProcess scheduler) {
    String queue = queue(load, scheduler);
    Waiting.until(
        "the queue goes on",
        () -> {
          // With replicated:1 and without a replica the answer is 503.
          Http.post(queue + "/resume", "");
          return Http.get(queue).json().get("pausedSince").isNull();
        });
  }

  @Test
  void whatThePromotedReplicaForgotIsReportedAndTheRestRuns() throws Exception {
    Workload load = Workload.of("failover");
    Submitter submitter = load.submitter();
    try (RedisSentinels redis = RedisSentinels.start(DOWN_AFTER);
        JavaProcess one =
            PROGRAMS.scheduler(REGISTRY, 1, load.application(), RedisOptions.of(redis)).start();
        JavaProcess two =
            PROGRAMS.scheduler(REGISTRY, 1, load.application(), RedisOptions.of(redis)).start();
        JavaProcess worker = load.worker(REGISTRY).start()) {
      one.awaitReady();
      two.awaitReady();
      worker.awaitReady();
      int master = redis.firstMaster().port();
      int replica = redis.firstReplica().port();
      long due = System.currentTimeMillis() + 15_000;
      submitter.submit(one, "known-first-", 1, "record", due, 0);
      pause(load, one);
      submitter.submit(one, "known-", 59, "record", due, 0);
      String keys = load.application() + ":{" + load.application() + ":job:0}:";
      Waiting.until(
          "the replica knows them, and that they are held back",
          () ->
              Resp.call(replica, "ZCARD", keys + "delayed").equals("60")
                  && Resp.call(replica, "HEXISTS", keys + "control", "paused").equals("1"));

      redis.isolateReplicas();
      submitter.submit(two, "forgotten-", 10, "record", due, 0);
      String mark = load.application() + ":epoch";
      String before = Resp.call(master, "HGET", mark, "sequence");
      Waiting.until(
          "both schedulers look again",
          () ->
              Integer.parseInt(Resp.call(master, "HGET", mark, "sequence"))
                  > Integer.parseInt(before) + 4);
      load.fault(
          "the master goes on alone, and is killed",
          () -> {
            redis.firstMaster().kill();
            Waiting.until("the replica is the master", () -> redis.master() != master);
          });

      for (JavaProcess scheduler : List.of(one, two)) {
        Waiting.until("the loss is reported", () -> store(scheduler).get("losses").size() > 0);
      }
      resume(load, one);
      Waiting.until("what it knew runs", () -> load.begun("known-").size() == 60);
      load.awaitDrained(two);
      assertThat(load.begun("forgotten-")).isEmpty();
    }
  }

  @Test
  void withReplicatedNothingIsAcknowledgedThatAReplicaDoesNotHave() throws Exception {
    Workload load = Workload.of("replicated");
    Submitter submitter = load.submitter();
    try (RedisSentinels redis = RedisSentinels.start(DOWN_AFTER);
        JavaProcess scheduler =
            PROGRAMS
                .scheduler(
                    REGISTRY,
                    1,
                    load.application(),
                    RedisOptions.of(redis)[0],
                    RedisOptions.of(redis)[1],
                    "--punctual.durability=replicated:1",
                    // A change waits for half of it.
                    "--spring.data.redis.timeout=1s")
                .start();
        JavaProcess worker = load.worker(REGISTRY).start()) {
      scheduler.awaitReady();
      worker.awaitReady();
      long due = System.currentTimeMillis() + 15_000;
      for (int i = 0; i < 50; i++) {
        String id = "confirmed-" + i;
        Waiting.until(
            id + " is confirmed", () -> submitter.submitOne(scheduler, id, "record", due));
        if (i == 0) {
          pause(load, scheduler);
        }
      }
      redis.isolateReplicas();
      for (int i = 0; i < 3; i++) {
        assertThat(submitter.submitOne(scheduler, "unconfirmed-" + i, "record", due)).isFalse();
      }
      Waiting.until("that is shown", () -> !store(scheduler).get("sound").booleanValue());

      load.fault(
          "the master is killed",
          () -> {
            int master = redis.firstMaster().port();
            redis.firstMaster().kill();
            Waiting.until("the replica is the master", () -> redis.master() != master);
          });

      resume(load, scheduler);
      Waiting.until("they run", () -> load.begun("confirmed-").size() == 50);
      load.awaitDrained(scheduler);
      Accounting accounting = load.account();
      assertThat(accounting.accepted()).isEqualTo(50);
      assertThat(accounting.unknown()).isEqualTo(3);
    }
  }
}
