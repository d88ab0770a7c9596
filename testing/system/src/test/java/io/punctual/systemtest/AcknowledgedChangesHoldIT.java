package io.punctual.systemtest;

import static io.punctual.systemtest.SharedSystem.PROGRAMS;
import static io.punctual.systemtest.SharedSystem.REGISTRY;

import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.systemtest.ChangedJobs.Found;
import io.punctual.systemtest.ChangedJobs.Job;
import io.punctual.test.redis.RedisReplica;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/**
 * Every pair of changes, and threes that are drawn, are made to a job, in turns through two
 * schedulers, and acknowledged. Then Redis breaks, and each job must be as its last change wants
 * it, or as Redis had it if Redis lost something. Schedulers confirm changes at a replica, which
 * falls behind and takes over in one of the cases.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("full")
class AcknowledgedChangesHoldIT {

  /** What becomes of Redis. */
  enum Trouble {
    RESTART,
    BROKEN_CONNECTIONS,
    FROZEN,
    FAIL_OVER,
    OLDER_COPY,
    EMPTIED
  }

  private final Workload load = Workload.of("changes");
  private final List<FaultyLink> links = List.of(new FaultyLink(), new FaultyLink());
  private final FaultyLink replication = new FaultyLink();
  private final List<JavaProcess> schedulers = new ArrayList<>();
  private ChangedJobs changes;
  private RedisServer primary;
  private RedisServer replica;
  private JavaProcess worker;

  @BeforeAll
  void start() throws IOException {
    primary = RedisServer.startTemporary("--appendfsync", "always");
    replica = RedisServer.startTemporary("--appendfsync", "always");
    links.forEach(link -> link.to(primary.port()));
    replicate();
    for (FaultyLink link : links) {
      schedulers.add(
          PROGRAMS
              .scheduler(REGISTRY, link.port(), load.application(), ChangedJobs.options())
              .start());
    }
    worker = load.worker(REGISTRY).start();
    schedulers.forEach(JavaProcess::awaitReady);
    worker.awaitReady();
    changes = new ChangedJobs(load, schedulers);
  }

  @AfterAll
  void stop() {
    worker.close();
    schedulers.forEach(JavaProcess::close);
    links.forEach(FaultyLink::close);
    replication.close();
    replica.close();
    primary.close();
  }

  private void replicate() throws IOException {
    replication.to(primary.port()).become(FaultyLink.Mode.SOUND);
    RedisReplica.follow(replica, replication.port());
  }

  @ParameterizedTest
  @EnumSource
  void everyPairOfAcknowledgedChangesHolds(Trouble trouble) throws Exception {
    List<Job> jobs = changes.changed(trouble + "-");
    forgetLosses();
    Map<Job, Set<Found>> unconfirmed = Map.of();
    switch (trouble) {
      case RESTART -> {
        primary.kill();
        primary.start();
      }
      case BROKEN_CONNECTIONS -> cutConnections();
      case FROZEN -> freeze();
      case FAIL_OVER -> unconfirmed = failOver(trouble + "-unconfirmed-");
      case OLDER_COPY -> putCopyInPlace(jobs);
      case EMPTIED -> {
        Resp.call(primary.port(), "FLUSHALL");
        awaitLoss();
        jobs.forEach(Job::expectNone);
      }
    }
    changes.awaitDeliveries(trouble + "-marker-");
    changes.judge(trouble, jobs, unconfirmed);

    if (trouble == Trouble.EMPTIED) {
      changes.submitAgain(jobs);
      changes.judge("submitted again", jobs, Map.of());
    }
  }

  /** For longer than calls and leases wait. */
  private void freeze() {
    primary.suspend();
    try {
      for (JavaProcess scheduler : schedulers) {
        Waiting.until(
            scheduler + " misses Redis",
            () -> changes.new Job("frozen", 0).submit(scheduler, 5).status() == 503);
      }
    } finally {
      primary.resume();
    }
  }

  private void cutConnections() throws IOException {
    for (int i = 0; i < 20; i++) {
      links.get(i % 2).become(FaultyLink.Mode.CUT);
      Resp.call(primary.port(), "CLIENT", "KILL", "TYPE", "pubsub");
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
      links.get(i % 2).become(FaultyLink.Mode.SOUND);
    }
  }

  /**
   * The replica falls behind by some seconds, and takes over. Meanwhile changes are not confirmed.
   *
   * @return what may be found of each job that was changed meanwhile: the state before, or after
   */
  private Map<Job, Set<Found>> failOver(String prefix) throws Exception {
    Map<Job, Set<Found>> possible =
        changes.unconfirmed(prefix, () -> replication.become(FaultyLink.Mode.HALF_OPEN));
    awaitLooks();
    RedisServer old = primary;
    primary.kill();
    promote(replica);
    replica = old;
    replica.start();
    replicate();
    return possible;
  }

  private void promote(RedisServer next) throws IOException {
    replication.become(FaultyLink.Mode.CUT);
    Resp.call(next.port(), "REPLICAOF", "NO", "ONE");
    primary = next;
    for (FaultyLink link : links) {
      link.become(FaultyLink.Mode.CUT);
      link.to(primary.port()).become(FaultyLink.Mode.SOUND);
    }
  }

  /** A copy is made, each third job is changed once more, and Redis is as the copy again. */
  private void putCopyInPlace(List<Job> jobs) throws Exception {
    RedisServer copy = RedisServer.startTemporary("--appendfsync", "always");
    RedisReplica.follow(copy, primary.port());
    Resp.call(copy.port(), "REPLICAOF", "NO", "ONE");
    List<Job> some = new ArrayList<>();
    for (int i = 0; i < jobs.size(); i += 3) {
      some.add(jobs.get(i));
    }
    changes.changeForgotten(some);
    awaitLooks();
    RedisServer old = primary;
    primary.kill();
    promote(copy);
    old.close();
    replicate();
    awaitLoss();
  }

  /** Waits until the schedulers have seen the state of Redis as it is now. */
  private void awaitLooks() throws IOException {
    long before = changes.looks(primary.port());
    Waiting.until("the schedulers look again", () -> changes.looks(primary.port()) > before + 4);
  }

  private void forgetLosses() {
    Waiting.until(
        "earlier losses are forgotten",
        () -> {
          Http.post(schedulers.get(0).url() + "/api/v1/store/losses/acknowledge", "");
          return losses().isEmpty();
        });
  }

  private void awaitLoss() {
    Waiting.until("the loss is told", () -> !losses().isEmpty());
  }

  private JsonNode losses() throws IOException {
    return Http.get(schedulers.get(0).url() + "/api/v1/store").json().get("losses");
  }
}
