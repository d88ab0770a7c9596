package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.redis.Resp;
import io.punctual.test.redis.RedisSentinels;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Redis fails over to a replica that has not heard of the last changes. */
class FailOverIT {

  private static String[] sentinels(RedisSentinels setup) {
    List<String> nodes = setup.ports().stream().map(port -> "127.0.0.1:" + port).toList();
    return new String[] {
      "--spring.data.redis.sentinel.master=" + RedisSentinels.MASTER,
      "--spring.data.redis.sentinel.nodes=" + String.join(",", nodes),
    };
  }

  private static JsonNode store(JavaProcess scheduler) throws IOException {
    return Http.get(scheduler.url() + "/api/v1/store").json();
  }

  private interface End {
    void of(RedisSentinels redis) throws IOException;
  }

  @Test
  void whatThePromotedReplicaForgotIsPutBack() throws Exception {
    masterGoesOnAloneAnd("it is killed", redis -> redis.firstMaster().kill(), redis -> {});
  }

  @Test
  void whatAnIsolatedMasterTookIsPutBackAndItsOwnEndsWhenItIsDemoted() throws Exception {
    masterGoesOnAloneAnd(
        "its sentinels do not reach it",
        RedisSentinels::isolateMaster,
        redis -> {
          int old = redis.firstMaster().port();
          // It lives, and would take whatever it is sent.
          assertThat(Resp.call(old, "SET", "alone", "1")).isEqualTo("OK");
          redis.rejoinMaster();
          Waiting.until("it follows the new one", () -> Resp.call(old, "ROLE").startsWith("slave"));
          Waiting.until(
              "it knows what that knows, and no more",
              () -> Resp.call(old, "EXISTS", "alone").equals("0"));
        });
  }

  private static void masterGoesOnAloneAnd(String what, End end, End afterwards) throws Exception {
    Workload load = Workload.of("failover");
    Submitter submitter = load.submitter();
    try (RedisSentinels redis = RedisSentinels.start();
        JavaProcess one =
            PROGRAMS.scheduler(REGISTRY, 1, load.application(), sentinels(redis)).start();
        JavaProcess two =
            PROGRAMS.scheduler(REGISTRY, 1, load.application(), sentinels(redis)).start();
        JavaProcess worker = load.worker(REGISTRY).start()) {
      one.awaitReady();
      two.awaitReady();
      worker.awaitReady();
      final int master = redis.firstMaster().port();
      final int replica = redis.firstReplica().port();
      long due = System.currentTimeMillis() + 20_000;
      submitter.submit(one, "known-", 60, "record", due, 0);
      String delayed = load.application() + ":{" + load.application() + ":job:0}:delayed";
      Waiting.until(
          "the replica knows them", () -> Resp.call(replica, "ZCARD", delayed).equals("60"));

      redis.isolateReplicas();
      submitter.submit(one, "forgotten-", 100, "record", due, 0);
      submitter.submit(two, "done-", 50, "record", System.currentTimeMillis(), 0);
      for (int i = 0; i < 20; i++) {
        assertThat(submitter.cancel(two, "known-" + i)).isTrue();
        assertThat(submitter.move(one, "known-" + (20 + i), due + 3_000)).isTrue();
        assertThat(submitter.cancel(two, "forgotten-" + i)).isTrue();
      }
      Waiting.until(
          "some are done", () -> submitter.queue(one).get("counters").path("done").asInt(0) == 50);
      // The replica missed all of that.
      assertThat(Resp.call(replica, "ZCARD", delayed)).isEqualTo("60");

      load.fault(
          "the master goes on alone, and " + what,
          () -> {
            try {
              end.of(redis);
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
            Waiting.until("the replica is the master", () -> redis.master() != master);
          });

      Waiting.until(
          "both schedulers have put back what they know",
          () ->
              store(one).get("restoredJobs").intValue() > 0
                  && store(two).get("restoredJobs").intValue() > 0);
      System.out.printf(
          "put back: %d by the one, %d by the other%n",
          store(one).get("restoredJobs").intValue(), store(two).get("restoredJobs").intValue());
      afterwards.of(redis);
      load.awaitDrained(two);
      Accounting accounting = load.account();
      assertThat(accounting.accepted()).isEqualTo(210);
      // Not even what was done runs again, and what was cancelled stays so.
      assertThat(accounting.repeated()).isEmpty();
      assertThat(load.begun("done-")).hasSize(50);
      assertThat(load.begun("known-")).hasSize(40);
      assertThat(load.begun("forgotten-")).hasSize(80);
    }
  }

  @Test
  void withReplicatedNothingIsAcknowledgedThatAReplicaDoesNotHave() throws Exception {
    Workload load = Workload.of("replicated");
    Submitter submitter = load.submitter();
    try (RedisSentinels redis = RedisSentinels.start();
        JavaProcess scheduler =
            PROGRAMS
                .scheduler(
                    REGISTRY,
                    1,
                    load.application(),
                    sentinels(redis)[0],
                    sentinels(redis)[1],
                    "--punctual.durability=replicated:1",
                    "--punctual.durability-timeout=300ms",
                    // What is in the replica is in it by itself.
                    "--punctual.receipts.keep=0s")
                .start();
        JavaProcess worker = load.worker(REGISTRY).start()) {
      scheduler.awaitReady();
      worker.awaitReady();
      long due = System.currentTimeMillis() + 15_000;
      for (int i = 0; i < 50; i++) {
        assertThat(submitter.submitOne(scheduler, "confirmed-" + i, "record", due)).isTrue();
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

      Waiting.until("they run", () -> load.begun("confirmed-").size() == 50);
      load.awaitDrained(scheduler);
      Accounting accounting = load.account();
      assertThat(accounting.accepted()).isEqualTo(50);
      assertThat(accounting.unknown()).isEqualTo(3);
    }
  }
}
