package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobState;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.Pause;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.core.schedule.ScheduleName;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Lease;
import io.punctual.core.store.Requeue;
import io.punctual.core.store.Revision;
import io.punctual.core.store.ScheduleStore;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.Submission;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.durability.StoreNode;
import io.punctual.core.store.durability.StoreNode.Persistence;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.test.redis.RedisCluster;
import io.punctual.test.redis.RedisReplica;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** What must have happened before somebody is told that it has. */
@Tag("full")
class DurabilityIT {

  private static final String WAITS = "cmdstat_wait:calls=";

  /** Timeout for stores whose writes are confirmed. */
  private static final Duration PATIENT = Duration.ofSeconds(5);

  /** Timeout for stores whose writes are not confirmed. */
  private static final Duration HASTY = Duration.ofMillis(300);

  // Longer than a store waits for a replica.
  private static final JedisClientConfiguration CLIENT =
      JedisClientConfiguration.builder().readTimeout(Duration.ofSeconds(15)).usePooling().build();

  private static final Bucket BUCKET = new Bucket(new QueueName("shop", "close"), 0);

  private static Store store(RedisServer redis, String durability) {
    return store(redis, durability, PATIENT, /* confirmEnds= */ false);
  }

  private static Store hastyStore(RedisServer redis, String durability) {
    return store(redis, durability, HASTY, /* confirmEnds= */ false);
  }

  private static Store storeThatConfirmsEnds(RedisServer redis, String durability) {
    return store(redis, durability, HASTY, /* confirmEnds= */ true);
  }

  private static Store store(
      RedisServer redis, String durability, Duration patience, boolean confirmEnds) {
    JedisConnectionFactory connections =
        StandaloneStoreIT.started(
            new JedisConnectionFactory(
                new RedisStandaloneConfiguration("127.0.0.1", redis.port()), CLIENT));
    return RedisStore.connect(
        connections,
        new StoreOptions(
            "durable", Duration.ofMinutes(1), Durability.parse(durability, patience), confirmEnds));
  }

  private static List<String> obstacles(Store store) {
    return store.inspector().obstacles(store.inspector().nodes());
  }

  private static Submitted.Kind submit(Store store, String id) {
    return submit(store, BUCKET, id).items().get(0).kind();
  }

  private static Submitted submit(Store store, Bucket bucket, String id) {
    Submission job =
        new Submission(
            id, "i-" + id, Due.in(60_000), 3, 0, List.of(), new byte[] {1}, /* replace= */ false);
    return store.jobs().submit(bucket, List.of(job));
  }

  /** Where a submit was when it was answered. */
  private static String reached(Store store, String id) {
    return submit(store, BUCKET, id).reached().toString();
  }

  private static int waits(RedisServer redis) throws IOException {
    return Resp.call(redis.port(), "INFO", "commandstats")
        .lines()
        .filter(line -> line.startsWith(WAITS))
        .map(line -> Integer.valueOf(line.substring(WAITS.length(), line.indexOf(','))))
        .findFirst()
        .orElse(0);
  }

  private static List<String> findings(Store store) {
    return store.inspector().replicas().stream().map(StoreNode.Finding::text).toList();
  }

  private static StoreException failed(Store store, String id) {
    StoreException e = catchThrowableOfType(StoreException.class, () -> submit(store, id));
    assertThat(e).isNotNull();
    return e;
  }

  @Test
  void whatReplicasDoNotConfirmIsNotKnownUntilTheyDo() throws IOException {
    try (RedisServer master = RedisServer.startTemporary();
        RedisServer replica = RedisReplica.of(master)) {
      Store store = store(master, "replicated:1");
      assertThat(obstacles(store)).isEmpty();
      assertThat(reached(store, "a")).isEqualTo("replicated:1");

      replica.suspend();
      Store hasty = hastyStore(master, "replicated:1");
      StoreException e = failed(hasty, "b");
      assertThat(e.kind()).isEqualTo(StoreException.Kind.UNCONFIRMED);
      assertThat(e).hasMessageContaining("only 0 of 1 replicas confirmed it");
      // It is there, and yet a repeated call must not say so before the replica has it, too.
      assertThat(store.jobs().stats(BUCKET).delayed()).isEqualTo(2);
      assertThat(failed(hasty, "b")).hasMessageContaining("only 0 of 1");
      assertThat(store(master, "redis").jobs().find(BUCKET, "b")).isPresent();
      assertThat(submit(store(master, "redis"), "b")).isEqualTo(Submitted.Kind.ALREADY_THERE);

      replica.resume();
      assertThat(submit(store, "b")).isEqualTo(Submitted.Kind.ALREADY_THERE);
      assertThat(Resp.call(replica.port(), "ZCARD", "durable:{shop:close:0}:delayed"))
          .isEqualTo("2");
    }
  }

  @Test
  void autoIsConfirmedByAReplicaWhereOneConfirms() throws IOException {
    try (RedisServer master = RedisServer.startTemporary()) {
      Store store = store(master, "auto");
      Store hasty = hastyStore(master, "auto");
      assertThat(reached(store, "alone")).isEqualTo("redis");
      assertThat(findings(store)).isEmpty();
      try (RedisServer replica = RedisReplica.of(master)) {
        Awaitility.await()
            .until(() -> findings(store).isEmpty() && reached(store, "b").equals("replicated:1"));
        assertThat(store.jobs().cancel(BUCKET, "b", null).reached()).hasToString("replicated:1");
        assertThat(store.jobs().revise(BUCKET, "alone", Revision.of(Due.in(1))).reached())
            .hasToString("replicated:1");

        awaitConfirming(hasty);
        replica.suspend();
        int before = waits(master);
        assertThat(reached(hasty, "c")).isEqualTo("redis");
        int once = waits(master);
        assertThat(once).isNotEqualTo(before);
        // One change has waited in vain; the next ones do not.
        assertThat(reached(hasty, "d")).isEqualTo("redis");
        assertThat(waits(master)).isEqualTo(once);
        assertThat(findings(hasty))
            .singleElement()
            .asString()
            .contains("no replica of Redis confirmed a write within 300 ms");

        replica.resume();
        Awaitility.await()
            .until(() -> findings(hasty).isEmpty() && reached(hasty, "d").equals("replicated:1"));
        assertThat(Resp.call(replica.port(), "HEXISTS", "durable:{shop:close:0}:jobs", "c"))
            .isEqualTo("1");
      }
      Awaitility.await()
          .until(() -> findings(hasty).stream().anyMatch(text -> text.contains("has lost its")));
      assertThat(reached(hasty, "e")).isEqualTo("redis");
    }
  }

  @Test
  void autoSaysSyncedWhileRedisSyncsEachWriteAndNotOnceItWasAway() throws IOException {
    try (RedisServer redis = RedisServer.startTemporary()) {
      Resp.call(redis.port(), "CONFIG", "SET", "appendfsync", "always");
      Store store = store(redis, "auto");
      assertThat(store.inspector().nodes()).hasSize(1);
      assertThat(reached(store, "a")).isEqualTo("synced");

      redis.kill();
      assertThat(catchThrowableOfType(StoreException.class, store.inspector()::nodes)).isNotNull();
      // With appendfsync no, as it was started.
      redis.start();

      Awaitility.await()
          .ignoreExceptions()
          .untilAsserted(() -> assertThat(reached(store, "b")).isEqualTo("redis"));
    }
  }

  @Test
  void eachMasterOfAClusterSaysForItselfWhetherItSyncsEachWrite() throws IOException {
    try (RedisCluster cluster = RedisCluster.start()) {
      RedisServer lazy = cluster.ownerOf(jobs(0));
      for (int port : cluster.ports()) {
        Resp.call(port, "CONFIG", "SET", "cluster-require-full-coverage", "no");
        if (port != lazy.port()) {
          Resp.call(port, "CONFIG", "SET", "appendfsync", "always");
        }
      }
      int other = 1;
      while (cluster.ownerOf(jobs(other)) == lazy) {
        other++;
      }
      Bucket onLazy = new Bucket(BUCKET.queue(), 0);
      Bucket onOther = new Bucket(BUCKET.queue(), other);
      JedisConnectionFactory connections = ClusterStoreIT.connectTo(cluster);
      Store store =
          RedisStore.connect(connections, new StoreOptions("durable", Duration.ofMinutes(1)));
      assertThat(store.inspector().nodes()).hasSize(3);
      assertThat(submit(store, onLazy, "a").reached()).hasToString("redis");
      assertThat(submit(store, onOther, "a").reached()).hasToString("synced");

      lazy.suspend();
      for (int port : cluster.ports()) {
        if (port != lazy.port()) {
          Awaitility.await()
              .until(
                  () ->
                      Resp.call(port, "CLUSTER", "NODES")
                          .lines()
                          .filter(line -> line.contains(":" + lazy.port() + "@"))
                          .anyMatch(line -> line.contains("master,fail ")));
        }
      }
      assertThat(store.inspector().nodes()).isNotEmpty();
      lazy.resume();

      Awaitility.await()
          .ignoreExceptions()
          .untilAsserted(
              () -> assertThat(submit(store, onLazy, "b").reached()).hasToString("redis"));
      assertThat(submit(store, onOther, "b").reached()).hasToString("synced");
      connections.destroy();
    }
  }

  private static String jobs(int bucket) {
    return "durable:{shop:close:" + bucket + "}:jobs";
  }

  @Test
  void autoAsksEachMasterOfACluster() throws IOException {
    try (RedisCluster cluster = RedisCluster.startWithReplicas()) {
      JedisConnectionFactory connections =
          StandaloneStoreIT.started(
              new JedisConnectionFactory(
                  new RedisClusterConfiguration(cluster.addresses()), CLIENT));
      Store store =
          RedisStore.connect(
              connections,
              new StoreOptions(
                  "durable", Duration.ofMinutes(1), Durability.parse("auto", PATIENT)));
      for (int i = 0; i < 16; i++) {
        Bucket bucket = new Bucket(BUCKET.queue(), i);
        assertThat(submit(store, bucket, "a").reached()).hasToString("replicated:1");
      }
      assertThat(findings(store)).isEmpty();
      connections.destroy();
    }
  }

  @Test
  void everyChangeThatSomebodyAsksForIsConfirmedAndNoOther() throws IOException {
    try (RedisServer alone = RedisServer.startTemporary()) {
      Store store = hastyStore(alone, "replicated:2");
      assertThat(obstacles(store))
          .singleElement()
          .asString()
          .contains("has 0 replicas connected, and 2 must confirm");
      JobStore jobs = store.jobs();
      ScheduleStore.Change schedule =
          new ScheduleStore.Change(
              new ScheduleName(BUCKET.queue(), "nightly"),
              /* expected= */ null,
              new byte[] {1},
              "s",
              /* look= */ null);
      for (Runnable change :
          List.<Runnable>of(
              () -> submit(store, "a"),
              () -> jobs.submit(BUCKET, List.of(replacement("a"))),
              () -> jobs.limit(BUCKET, new Throttle(5, /* rate= */ null)),
              () -> jobs.remember("shop", "paid", Duration.ofHours(1)),
              () -> store.schedules().write(List.of(schedule), 9, /* durably= */ true),
              () -> jobs.cancel(BUCKET, "a", null),
              () -> jobs.restore(BUCKET, "a"),
              () -> jobs.revise(BUCKET, "a", Revision.of(Due.in(1))),
              () -> jobs.requeue(BUCKET, List.of(Requeue.of("a")), Duration.ZERO),
              () -> jobs.purge(BUCKET, JobState.DEAD, List.of("a")),
              () -> jobs.pause(BUCKET, true),
              () -> store.queues().pause("shop", Pause.Terms.NONE))) {
        StoreException e = catchThrowableOfType(StoreException.class, change::run);
        assertThat(e).hasMessageContaining("only 0 of 2");
      }
      LeaseToken token = new LeaseToken("t");
      jobs.claim(BUCKET, 1, Duration.ofSeconds(1), JobStore.ClaimMode.PUSH, token, "me");
      jobs.extend(BUCKET, List.of(new Lease("a", token)), Duration.ofSeconds(1));
      jobs.expire(BUCKET, 1);
      assertThat(jobs.find(BUCKET, "a"))
          .get()
          .extracting("record.incarnation")
          .isEqualTo("replaced-a");
    }
  }

  private static Submission replacement(String id) {
    return new Submission(
        id, "replaced-" + id, Due.in(60_000), 3, 0, List.of(), new byte[] {2}, /* replace= */ true);
  }

  @Test
  void allScriptsThatMakeSuchAChangeAreConfirmedAndNoOthers() {
    try (RedisServer alone = RedisServer.startTemporary()) {
      Store store = store(alone, "replicated:1", Duration.ofMillis(10), /* confirmEnds= */ false);

      assertThat(Calls.all().keySet())
          .filteredOn(script -> isUnconfirmed(script, store.jobs()))
          .containsExactlyInAnyOrder(
              "submit", "cancel", "restore", "revise", "requeue", "purge", "pause", "limit",
              "expiry", "hours");
    }
  }

  private static boolean isUnconfirmed(String script, JobStore jobs) {
    try {
      Calls.make(script, jobs, BUCKET);
      return false;
    } catch (StoreException e) {
      assertThat(e.kind()).as(script).isEqualTo(StoreException.Kind.UNCONFIRMED);
      return true;
    }
  }

  private static Settled.Kind end(Store store, String id) {
    LeaseToken token = new LeaseToken("t-" + id);
    store.jobs().revise(BUCKET, id, Revision.of(Due.in(0)));
    store.jobs().claim(BUCKET, 1, Duration.ofSeconds(10), JobStore.ClaimMode.PUSH, token, "me");
    Settlement done =
        new Settlement(Settlement.Op.DONE, id, "i-" + id, token, Duration.ZERO, false, new byte[0]);
    return store.jobs().settle(BUCKET, List.of(done)).get(0).kind();
  }

  @Test
  void endsWaitForAReplicaWhereThatIsWantedAndOneConfirms() throws IOException {
    try (RedisServer master = RedisServer.startTemporary();
        RedisServer replica = RedisReplica.of(master)) {
      Store unconfirmed = store(master, "redis");
      submit(unconfirmed, "a");
      assertThat(end(unconfirmed, "a")).isEqualTo(Settled.Kind.DONE);
      assertThat(waits(master)).isZero();

      Store store = storeThatConfirmsEnds(master, "redis");
      submit(store, "b");
      awaitConfirming(store);
      int before = waits(master);
      assertThat(end(store, "b")).isEqualTo(Settled.Kind.DONE);
      assertThat(waits(master)).isEqualTo(before + 1);
      Awaitility.await()
          .until(
              () -> Resp.call(replica.port(), "ZCARD", "durable:{shop:close:0}:done").equals("2"));

      // An end is never refused for want of a replica, and one in all waits in vain.
      awaitConfirming(store);
      int confirmed = waits(master);
      replica.suspend();
      submit(store, "c");
      assertThat(end(store, "c")).isEqualTo(Settled.Kind.DONE);
      submit(store, "d");
      assertThat(end(store, "d")).isEqualTo(Settled.Kind.DONE);
      assertThat(waits(master)).isEqualTo(confirmed + 1);
      assertThat(findings(store))
          .singleElement()
          .asString()
          .contains("no replica of Redis", "ends of attempts wait for no replica")
          .doesNotContain("changes are acknowledged");
      replica.resume();
    }
  }

  /** The next write waits for a replica: the last look found one that confirms. */
  private static void awaitConfirming(Store store) {
    Awaitility.await().until(() -> findings(store).isEmpty());
  }

  @Test
  void autoGoesOnWhereRedisRefusesToWaitAndSaysWhatToSet() throws IOException {
    try (RedisServer master = RedisServer.startTemporary();
        RedisServer replica = RedisReplica.of(master)) {
      assertThat(replica.port()).isNotEqualTo(master.port());
      Resp.call(master.port(), "ACL", "SETUSER", "default", "-wait");
      Store auto = store(master, "auto");
      assertThat(reached(auto, "a")).isEqualTo("redis");
      assertThat(findings(auto))
          .singleElement()
          .asString()
          .contains("Redis refuses to wait for its replicas (NOPERM", "changes are acknowledged")
          .endsWith("or set durability redis");
      assertThat(findings(storeThatConfirmsEnds(master, "auto")))
          .singleElement()
          .asString()
          .contains("changes are acknowledged")
          .endsWith("or set durability redis and durability-of-ends false");
      assertThat(findings(storeThatConfirmsEnds(master, "replicated:1")))
          .singleElement()
          .asString()
          .contains("ends of attempts wait for no replica")
          .endsWith("or set durability-of-ends false");
      Resp.call(master.port(), "ACL", "SETUSER", "default", "+wait");
      Awaitility.await()
          .until(() -> findings(auto).isEmpty() && reached(auto, "b").equals("replicated:1"));
    }
  }

  @Test
  void aFullRedisThatCannotConfirmDoesNotSayThatNothingHappened() throws IOException {
    try (RedisServer alone = RedisServer.startTemporary()) {
      assertThat(submit(store(alone, "redis"), "a")).isEqualTo(Submitted.Kind.CREATED);
      Resp.call(alone.port(), "CONFIG", "SET", "maxmemory", "1");
      Store store = hastyStore(alone, "replicated:1");
      StoreException e =
          catchThrowableOfType(StoreException.class, () -> store.jobs().cancel(BUCKET, "a", null));
      assertThat(e.kind()).isEqualTo(StoreException.Kind.UNCONFIRMED);
      assertThat(e).hasMessageContaining("it is done, but Redis did not confirm it: OOM");
    }
  }

  @Test
  void syncedTakesALogThatIsSyncedOrARedisThatCanWaitForIt() throws IOException {
    try (RedisServer redis = RedisServer.startTemporary("--appendfsync", "everysec")) {
      Store store = store(redis, "synced");
      StoreNode node = store.inspector().nodes().get(0);
      assertThat(node.persistence()).isEqualTo(Persistence.LOG);
      if (node.atLeast(7, 2)) {
        assertThat(obstacles(store)).isEmpty();
        assertThat(submit(store, "a")).isEqualTo(Submitted.Kind.CREATED);
        // A log that nobody syncs.
        Resp.call(redis.port(), "CONFIG", "SET", "appendfsync", "no");
        StoreException e = failed(store, "c");
        assertThat(e.kind()).isEqualTo(StoreException.Kind.UNCONFIRMED);
        assertThat(store.jobs().find(BUCKET, "c")).isPresent();
      } else {
        assertThat(obstacles(store))
            .singleElement()
            .asString()
            .contains("127.0.0.1:" + redis.port(), "set appendfsync always");
        StoreException e = failed(store, "a");
        assertThat(e.kind()).isEqualTo(StoreException.Kind.REFUSED);
        assertThat(e).hasMessageContaining("durability synced cannot be kept");
        assertThat(store.jobs().find(BUCKET, "a")).isEmpty();
      }

      Resp.call(redis.port(), "CONFIG", "SET", "appendfsync", "always");
      assertThat(obstacles(store)).isEmpty();
      assertThat(submit(store, "b")).isEqualTo(Submitted.Kind.CREATED);
    }
  }

  @Test
  void settingsAreReadAndShown() {
    Duration patience = Duration.ofSeconds(1);
    for (String text : List.of("auto", "redis", "synced", "replicated:1", "replicated:9")) {
      assertThat(Durability.parse(text, patience)).hasToString(text);
    }
    assertThat(Durability.parse("auto", patience)).isEqualTo(Durability.DEFAULT);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "disk", "replicated", "replicated:0", "replicated:10", "Synced"})
  void otherSettingsAreRefused(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Durability.parse(text, Duration.ofSeconds(1)))
        .withMessageContaining("must be auto, redis, synced or replicated:n");
  }

  @ParameterizedTest
  @ValueSource(longs = {9, 10_001})
  void theWaitIsBounded(long millis) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Durability.parse("synced", Duration.ofMillis(millis)))
        .withMessageContaining("between 10 ms and 10 s");
  }
}
