package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.LossJournal;
import io.punctual.core.StoreHealth;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.durability.Epoch;
import io.punctual.core.store.durability.EpochMarker;
import io.punctual.core.store.durability.LossEntry;
import io.punctual.core.store.durability.StoreInspector;
import io.punctual.core.store.durability.StoreLoss;
import io.punctual.core.store.durability.StoreNode;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.redis.RedisServer;
import io.punctual.redis.Resp;
import io.punctual.test.redis.RedisReplica;
import io.punctual.test.redis.RedisSentinels;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** A store that forgets. The tests mostly wait: they run side by side. */
@Execution(ExecutionMode.CONCURRENT)
@Tag("full")
class StoreWatchIT extends EngineTestBase {

  private static RedisServer server;
  private static JedisConnectionFactory own;

  @BeforeAll
  static void startRedis() {
    server = RedisServer.startTemporary("--appendfsync", "everysec");
    own = connections("127.0.0.1", server.port());
  }

  @AfterAll
  static void stopRedis() {
    own.destroy();
    server.close();
  }

  private Store ownStore() {
    return RedisStore.connect(own, new StoreOptions(prefix, Duration.ofMinutes(10)));
  }

  private Engine watching(TestDispatcher dispatcher, EngineOptions options) {
    Engine engine = engine(ownStore(), options, dispatcher, null);
    // The mark is there once it was looked for.
    eventually().until(() -> !field("looked").isEmpty());
    return engine;
  }

  private String sequence() throws IOException {
    return field("sequence");
  }

  private String field(String name) throws IOException {
    return field(server, name);
  }

  private String field(RedisServer redis, String name) throws IOException {
    return Resp.call(redis.port(), "HGET", prefix + ":epoch", name);
  }

  private static void awaitHealth(Engine engine, Predicate<StoreHealth> condition) {
    eventually().until(() -> condition.test(engine.storeHealth()));
  }

  @Test
  void anEmptiedStoreIsReportedUntilAnOperatorAcknowledgesIt() throws IOException {
    TestDispatcher dispatcher = TestDispatcher.done();
    Engine engine = watching(dispatcher, options("engine"));
    submit(engine, "lost", Duration.ofHours(1));

    // Other tests use this Redis at the same time.
    String flush = "return redis.call('del', unpack(redis.call('keys', ARGV[1])))";
    Resp.call(server.port(), "EVAL", flush, "0", prefix + ":*");

    awaitHealth(engine, health -> !health.losses().isEmpty());
    StoreHealth health = engine.storeHealth();
    assertThat(health.isBad()).isTrue();
    assertThat(health.losses())
        .singleElement()
        .extracting(StoreLoss::text)
        .asString()
        .contains("emptied");
    assertThat(engine.find(QUEUE, "lost")).isEmpty();
    eventually().until(() -> engine.lossJournal().newest() > 0);
    LossJournal journal = engine.lossJournal();
    assertThat(journal.entries())
        .singleElement()
        .returns(LossEntry.Kind.EMPTIED, LossEntry::kind)
        .returns(null, LossEntry::asOf);
    // The queue is registered again, and goes on.
    eventually().until(() -> engine.queues().containsKey(QUEUE));
    submit(engine, "new", Duration.ZERO);
    eventually().until(() -> dispatcher.seen.contains("new"));

    // It is no secret of this engine's, and does not end with it.
    engine.close();
    Engine successor = engine(ownStore(), options("successor"), dispatcher, null);
    awaitHealth(successor, seen -> seen.losses().equals(health.losses()));
    Engine other = engine(ownStore(), options("other"), dispatcher, null);
    awaitHealth(other, seen -> seen.losses().equals(health.losses()));

    successor.acknowledgeLosses();
    assertThat(successor.storeHealth().losses()).isEmpty();
    awaitHealth(other, seen -> seen.losses().isEmpty() && seen.begun() != null);
  }

  @Test
  void anOlderStateIsReported() throws IOException {
    Engine engine = watching(TestDispatcher.done(), options("engine"));
    // It comes back as it was when the mark was at 4.
    awaitSequence(7);
    Resp.call(server.port(), "HSET", prefix + ":epoch", "sequence", "4");

    awaitHealth(engine, health -> !health.losses().isEmpty());
    eventually().until(() -> engine.lossJournal().newest() > 0);
    LossEntry entry = engine.lossJournal().entries().get(0);
    assertThat(entry.kind()).isEqualTo(LossEntry.Kind.OLDER);
    assertBeganSecondsBefore(entry);
    assertThat(engine.storeHealth().losses())
        .singleElement()
        .extracting(StoreLoss::text)
        .asString()
        .contains("as it was earlier");
  }

  private static void assertBeganSecondsBefore(LossEntry entry) {
    assertThat(entry.asOf())
        .isBetween(entry.noticedAt().minusSeconds(20), entry.noticedAt().minusSeconds(4));
  }

  /** Intercepts calls to a part of the store. */
  private interface Interceptor {
    Object intercept(String call, Callable<Object> real) throws Exception;
  }

  /** An engine that sees the marks changed. */
  private Engine seeing(EngineOptions options, UnaryOperator<List<Epoch>> change) {
    return intercepted(
        options,
        (call, real) -> call.equals("advance") ? change.apply(epochs(real.call())) : real.call());
  }

  @SuppressWarnings("unchecked")
  private static List<Epoch> epochs(Object epochs) {
    return (List<Epoch>) epochs;
  }

  /** Returns an engine whose calls to the epoch marker are intercepted. */
  private Engine intercepted(EngineOptions options, Interceptor interceptor) {
    return intercepted(ownStore(), options, interceptor);
  }

  private Engine intercepted(Store real, EngineOptions options, Interceptor interceptor) {
    EpochMarker marks = proxy(EpochMarker.class, real.epoch(), interceptor);
    Store store =
        new Store(
            real.jobs(),
            real.queues(),
            real.wakeUps(),
            real.members(),
            real.inspector(),
            marks,
            real.calls(),
            real.schedules(),
            real.calendars());
    return engine(store, options, TestDispatcher.done(), null);
  }

  private static <T> T proxy(Class<T> type, T real, Interceptor interceptor) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              try {
                return interceptor.intercept(
                    method.getName(), () -> method.invoke(real, arguments));
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  private static long count(Engine engine, String text) {
    return engine.storeHealth().losses().stream().filter(l -> l.text().contains(text)).count();
  }

  @Test
  void theSchedulerWithoutChangesDoesNotHideTheLossOfAnother() throws Exception {
    Engine idle = watching(TestDispatcher.done(), options("idle"));
    awaitSequence(6);
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch reported = new CountDownLatch(1);
    AtomicBoolean slow = new AtomicBoolean();
    Engine busy =
        intercepted(
            options("busy"),
            (call, real) -> {
              if (call.equals("advance") && slow.get()) {
                held.countDown();
                await(reported);
              }
              return real.call();
            });
    awaitSequence(14);
    submit(busy, "unconfirmed", Duration.ofHours(1));
    slow.set(true);
    await(held);

    Resp.call(server.port(), "HSET", prefix + ":epoch", "sequence", "4");
    awaitHealth(idle, health -> !health.losses().isEmpty());
    eventually().until(() -> Resp.call(server.port(), "HLEN", prefix + ":losses").equals("1"));
    reported.countDown();

    for (Engine each : List.of(idle, busy)) {
      eventually().until(() -> count(each, "May be lost: changes acknowledged since") == 1);
      eventually().until(() -> count(each, "that scheduler idle acknowledged since 20") == 1);
      assertThat(each.storeHealth().losses()).hasSize(2);
      assertThat(entries(each, LossEntry.Kind.OLDER)).hasSize(1);
    }
  }

  private static List<LossEntry> entries(Engine engine, LossEntry.Kind kind) {
    return engine.lossJournal().entries().stream().filter(entry -> entry.kind() == kind).toList();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void anOlderStateOnAServerWhoseClockIsBehindMayHaveLostJobs() throws IOException {
    AtomicBoolean promoted = new AtomicBoolean();
    Engine engine =
        seeing(
            options("engine"),
            epochs ->
                promoted.get() ? epochs.stream().map(StoreWatchIT::anHourBehind).toList() : epochs);
    awaitSequence(7);
    submit(engine, "unconfirmed", Duration.ofHours(1));

    promoted.set(true);
    Resp.call(server.port(), "HSET", prefix + ":epoch", "sequence", "4");

    eventually().until(() -> engine.lossJournal().newest() > 0);
    assertThat(engine.storeHealth().losses().get(0).text())
        .contains("May be lost: changes acknowledged since 20");
    // By the clock that the journal now goes by.
    LossEntry entry = engine.lossJournal().entries().get(0);
    assertBeganSecondsBefore(entry);
  }

  private static Epoch anHourBehind(Epoch epoch) {
    return new Epoch(
        epoch.mark(),
        epoch.node(),
        epoch.now() - 3_600_000,
        epoch.begun(),
        epoch.id(),
        epoch.sequence(),
        epoch.looked());
  }

  @Test
  void aMarkThatIsNotWatchedAnyMoreIsForgotten() {
    Engine engine =
        seeing(
            options("engine"),
            epochs ->
                List.of(
                    epochs.get(0),
                    new Epoch("1", "gone:6379", epochs.get(0).now(), 1, "id", 1, 0)));
    awaitSequence(4);
    assertThat(engine.storeHealth().losses()).isEmpty();
    assertThat(engine.lossJournal().entries()).isEmpty();
  }

  @Test
  void eachReplicaThatSentinelsPromoteMayLackTheLastChanges() throws IOException {
    try (RedisSentinels redis = RedisSentinels.start(Duration.ofMinutes(1))) {
      for (RedisServer each : List.of(redis.firstMaster(), redis.firstReplica())) {
        // A restart alone would cost nothing.
        Resp.call(each.port(), "CONFIG", "SET", "appendfsync", "always");
      }
      JedisConnectionFactory connections =
          new JedisConnectionFactory(
              new RedisSentinelConfiguration(RedisSentinels.MASTER, Set.copyOf(redis.addresses())));
      connections.afterPropertiesSet();
      connections.start();
      try {
        Engine engine =
            engine(
                RedisStore.connect(connections, new StoreOptions(prefix, Duration.ofMinutes(10))),
                options("engine"),
                TestDispatcher.done(),
                null);
        // The third one promotes a process that was promoted before.
        for (int failOver = 1; failOver <= 3; failOver++) {
          int promotions = failOver;
          int master = redis.master();
          String address = "127.0.0.1:" + master;
          awaitHealth(
              engine,
              health -> health.nodes().stream().anyMatch(node -> node.address().equals(address)));
          eventually()
              .until(() -> Resp.call(master, "INFO", "replication").contains("state=online"));

          redis.failOver();

          eventually().until(() -> entries(engine, LossEntry.Kind.RESTARTED).size() == promotions);
        }
        engine.close();
      } finally {
        connections.destroy();
      }
    }
  }

  @Test
  void anotherOlderStateWithinAMinuteIsAnotherLossForAllEngines() throws IOException {
    Engine engine = watching(TestDispatcher.done(), options("engine"));
    Engine other = engine(ownStore(), options("other"), TestDispatcher.done(), null);
    eventually().until(() -> other.storeHealth().begun() != null);
    String earlier = sequence();
    awaitSequence(Integer.parseInt(earlier) + 8);
    Resp.call(server.port(), "HSET", prefix + ":epoch", "sequence", earlier);
    eventually().until(() -> engine.lossJournal().newest() > 0 && other.lossJournal().newest() > 0);
    long first = engine.lossJournal().newest();
    // Two engines look about twice a second.
    awaitSequence(Integer.parseInt(sequence()) + 16);
    assertThat(engine.lossJournal().entries()).hasSize(1);
    assertThat(other.lossJournal().entries()).isEqualTo(engine.lossJournal().entries());

    Resp.call(server.port(), "HSET", prefix + ":epoch", "sequence", earlier);

    eventually()
        .until(() -> engine.lossJournal().newest() > first && other.lossJournal().newest() > first);
    awaitSequence(Integer.parseInt(sequence()) + 8);
    for (Engine each : List.of(engine, other)) {
      assertThat(each.lossJournal().entries()).hasSize(2);
      assertThat(each.storeHealth().losses()).hasSize(2);
    }
  }

  private void awaitSequence(int wanted) {
    // Empty before the first look.
    eventually().until(() -> Integer.parseInt("0" + sequence()) >= wanted);
  }

  @Test
  void anEngineThatIsCutOffFromRedisNamesNoStore() {
    try (RedisServer redis = RedisServer.startTemporary()) {
      JedisConnectionFactory connections = connections("127.0.0.1", redis.port());
      Store store = RedisStore.connect(connections, StoreOptions.DEFAULTS);
      Engine engine = engine(store, options("engine"), TestDispatcher.done(), null);
      eventually().until(() -> engine.lossJournal().store() != null);
      LossJournal before = engine.lossJournal();

      redis.kill();
      eventually().until(() -> engine.lossJournal().store() == null);
      assertThat(engine.lossJournal().newest()).isZero();
      redis.start();

      eventually().until(() -> Objects.equals(engine.lossJournal().store(), before.store()));
      engine.close();
      connections.destroy();
    }
  }

  /**
   * Makes Redis look like a copy that is an hour old, while no engine runs.
   *
   * @return the time of the last look, epoch ms
   */
  private long copyOfAnHourAgo() throws IOException {
    long looked = ownStore().epoch().advance().get(0).now() - 3_600_000;
    Resp.call(server.port(), "HSET", prefix + ":epoch", "looked", Long.toString(looked));
    return looked;
  }

  @Test
  void theNextEngineRecordsAGapThatTheFirstOneCouldNotRecord() throws IOException {
    long looked = copyOfAnHourAgo();
    AtomicInteger refusals = new AtomicInteger();

    Engine engine =
        intercepted(
            options("engine"),
            (call, real) -> {
              if (call.equals("record")) {
                refusals.incrementAndGet();
                throw new StoreException(StoreException.Kind.REFUSED, "the test refuses this call");
              }
              return real.call();
            });
    eventually().until(() -> refusals.get() > 0);
    engine.close();
    Engine next = engine(ownStore(), options("next"), TestDispatcher.done(), null);

    eventually().until(() -> next.lossJournal().newest() > 0);
    assertThat(next.lossJournal().entries())
        .singleElement()
        .returns(LossEntry.Kind.RESTARTED, LossEntry::kind)
        .returns(Instant.ofEpochMilli(looked).minusSeconds(2), LossEntry::asOf);
  }

  @Test
  void anEngineThatStartsOnAnOlderCopySaysSinceWhenChangesMayBeMissing() throws IOException {
    long looked = copyOfAnHourAgo();

    Engine next = watching(TestDispatcher.done(), options("next"));

    eventually().until(() -> next.lossJournal().newest() > 0);
    assertThat(next.lossJournal().entries())
        .singleElement()
        .returns(LossEntry.Kind.RESTARTED, LossEntry::kind)
        .returns(Instant.ofEpochMilli(looked).minusSeconds(2), LossEntry::asOf);
    assertThat(next.lossJournal().now())
        .isAfterOrEqualTo(next.lossJournal().entries().get(0).noticedAt());
    assertThat(next.storeHealth().losses()).isEmpty();
    // One that comes to a store with an engine has nothing to add.
    eventually().until(() -> Long.parseLong(field("looked")) > looked);
    Resp.call(server.port(), "DEL", prefix + ":journal");
    Engine other = engine(ownStore(), options("other"), TestDispatcher.done(), null);
    eventually().until(() -> other.lossJournal().store() != null);
    assertThat(other.lossJournal().entries()).isEmpty();
  }

  @Test
  void aTimeWithoutALookIsOneEntryHoweverManyEnginesStart() throws IOException {
    long looked = copyOfAnHourAgo();
    Store real = ownStore();
    StoreInspector refusing =
        proxy(
            StoreInspector.class,
            real.inspector(),
            (call, ask) -> {
              if (call.equals("nodes")) {
                throw new StoreException(StoreException.Kind.REFUSED, "the test refuses this call");
              }
              return ask.call();
            });
    Store store =
        new Store(
            real.jobs(),
            real.queues(),
            real.wakeUps(),
            real.members(),
            refusing,
            real.epoch(),
            real.calls(),
            real.schedules(),
            real.calendars());

    Engine first = engine(store, options("first"), TestDispatcher.done(), null);
    eventually().until(() -> Resp.call(server.port(), "HLEN", journal()).equals("1"));
    first.close();
    // As if the first one had noticed it two minutes ago.
    Resp.call(
        server.port(),
        "EVAL",
        """
        local entry = redis.call('HGETALL', KEYS[1])
        local name, noticed = entry[1]:match('^(.+) (%d+)$')
        redis.call('DEL', KEYS[1])
        local earlier = string.format('%.0f', tonumber(noticed) - 120000)
        return redis.call('HSET', KEYS[1], name .. ' ' .. earlier, entry[2])
        """,
        "1",
        journal());
    long looks = Long.parseLong(sequence());
    Engine second = engine(store, options("second"), TestDispatcher.done(), null);
    eventually().until(() -> Long.parseLong(sequence()) > looks + 3);
    second.close();

    assertThat(Resp.call(server.port(), "HLEN", journal())).isEqualTo("1");
    // No look was complete.
    assertThat(field("looked")).isEqualTo(Long.toString(looked));
  }

  private String journal() {
    return prefix + ":journal";
  }

  @Test
  void anOlderStateOfWhichAllChangesHadNoReplicaMayHaveLostJobs() throws IOException {
    Engine engine = watching(TestDispatcher.done(), options("engine"));
    awaitSequence(7);
    submit(engine, "unconfirmed", Duration.ofHours(1));

    Resp.call(server.port(), "HSET", prefix + ":epoch", "sequence", "4");

    awaitHealth(engine, health -> !health.losses().isEmpty());
    assertThat(engine.storeHealth().losses().get(0).text())
        .contains("May be lost: changes acknowledged since 20", "as redis or synced")
        .contains("Jobs that ended since");
  }

  @Test
  void anOlderStateOfWhichAllChangesWereAtAReplicaRepeatsOnlyEnds() throws IOException {
    try (RedisServer primary = RedisServer.startTemporary();
        RedisServer replica = RedisServer.startTemporary()) {
      RedisReplica.follow(replica, primary.port());
      JedisConnectionFactory connections = connections("127.0.0.1", primary.port());
      try {
        Engine engine =
            engine(
                RedisStore.connect(connections, new StoreOptions(prefix, Duration.ofMinutes(10))),
                options("engine"),
                TestDispatcher.done(),
                null);
        eventually()
            .until(
                () ->
                    Integer.parseInt(
                            "0" + Resp.call(primary.port(), "HGET", prefix + ":epoch", "sequence"))
                        >= 7);
        assertThat(submit(engine, "confirmed", Duration.ofHours(1)).reached())
            .hasToString("replicated:1");

        Resp.call(primary.port(), "HSET", prefix + ":epoch", "sequence", "4");

        awaitHealth(engine, health -> !health.losses().isEmpty());
        assertThat(engine.storeHealth().losses().get(0).text())
            .contains("that scheduler engine acknowledged since 20", "Jobs that ended since");
        engine.close();
      } finally {
        connections.destroy();
      }
    }
  }

  @Test
  void eachRequestToSendAgainIsANewEntryForAllEngines() {
    Engine engine = watching(TestDispatcher.done(), options("engine"));
    Engine other = engine(ownStore(), options("other"), TestDispatcher.done(), null);
    Instant since = Instant.parse("2026-11-23T09:30:00Z");
    long first = engine.requestResend(since).newest();
    long second = engine.requestResend(since).newest();

    assertThat(second).isGreaterThan(first);
    eventually().until(() -> other.lossJournal().newest() == second);
    assertThat(other.lossJournal().store()).isEqualTo(engine.lossJournal().store()).isNotNull();
    assertThat(entries(other, LossEntry.Kind.REQUESTED))
        .hasSize(2)
        .allSatisfy(
            entry -> {
              assertThat(entry.asOf()).isEqualTo(since);
            });
    assertThat(engine.storeHealth().losses()).isEmpty();
  }

  @Test
  void whatTheJobsStandOnIsSeen() {
    Engine engine = watching(TestDispatcher.done(), options("engine"));
    awaitHealth(engine, health -> !health.nodes().isEmpty());
    StoreHealth health = engine.storeHealth();
    assertThat(health.isBad()).isFalse();
    assertThat(health.error()).isNull();
    assertThat(health.findings()).isEmpty();
    assertThat(health.durability()).isEqualTo("auto");
    assertThat(health.nodes().get(0).address()).isEqualTo("127.0.0.1:" + server.port());
  }

  @Test
  void aRestartOfTheStoreIsNoLoss() throws IOException {
    try (RedisServer restarted = RedisServer.startTemporary()) {
      JedisConnectionFactory connections = connections("127.0.0.1", restarted.port());
      Store store = RedisStore.connect(connections, StoreOptions.DEFAULTS);
      Engine engine = engine(store, options("engine"), TestDispatcher.done(), null);
      submit(engine, "later", Duration.ofHours(1));
      awaitHealth(engine, health -> !health.nodes().isEmpty());
      String before = engine.storeHealth().nodes().get(0).runId();

      restarted.kill();
      awaitHealth(engine, health -> health.error() != null);
      assertThat(engine.storeHealth().isBad()).isTrue();
      restarted.start();

      awaitHealth(engine, health -> !health.nodes().get(0).runId().equals(before));
      awaitHealth(engine, health -> health.error() == null);
      assertThat(engine.storeHealth().losses()).isEmpty();
      assertThat(engine.find(QUEUE, "later")).isPresent();
      // No alarm, but what had not reached the disk may be gone.
      eventually().until(() -> engine.lossJournal().newest() > 0);
      assertThat(engine.lossJournal().entries())
          .singleElement()
          .returns(LossEntry.Kind.RESTARTED, LossEntry::kind)
          .satisfies(entry -> assertThat(entry.asOf()).isBefore(entry.noticedAt()));
      engine.close();
      connections.destroy();
    }
  }

  @Test
  void aFailOverIsRecordedAlthoughTheOldPrimaryAnsweredUnderTheNewAddress() {
    Store real = ownStore();
    AtomicReference<StoreNode> answer = new AtomicReference<>(primary("old:6379", "old"));
    StoreInspector inspector =
        proxy(
            StoreInspector.class,
            real.inspector(),
            (call, ask) ->
                switch (call) {
                  case "nodes" -> List.of(answer.get());
                  // A new finding each time, so that each look reads the nodes.
                  case "replicas" -> List.of(new StoreNode.Finding(false, UUID.randomUUID() + ""));
                  default -> ask.call();
                });
    Engine engine =
        engine(
            new Store(
                real.jobs(),
                real.queues(),
                real.wakeUps(),
                real.members(),
                inspector,
                real.epoch(),
                real.calls(),
                real.schedules(),
                real.calendars()),
            options("engine"),
            TestDispatcher.done(),
            null);
    awaitNode(engine, answer.get());

    answer.set(primary("new:6379", "old"));
    awaitNode(engine, answer.get());
    answer.set(node("new:6379", "old", StoreNode.Persistence.SYNCED_LOG, false));
    awaitNode(engine, answer.get());
    assertThat(engine.lossJournal().entries()).isEmpty();
    answer.set(primary("new:6379", "new"));

    eventually().until(() -> engine.lossJournal().newest() > 0);
    assertThat(engine.lossJournal().entries())
        .singleElement()
        .returns(LossEntry.Kind.RESTARTED, LossEntry::kind);
  }

  @Test
  void aRestartThatNoLookMissedIsToldTogetherWithItsLoss() throws IOException {
    Store real = ownStore();
    StoreNode.Persistence nothing = StoreNode.Persistence.NOTHING;
    AtomicReference<StoreNode> answer =
        new AtomicReference<>(node("redis:6379", "before", nothing, true));
    StoreInspector inspector =
        proxy(
            StoreInspector.class,
            real.inspector(),
            (call, ask) -> call.equals("nodes") ? List.of(answer.get()) : ask.call());
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch restarted = new CountDownLatch(1);
    AtomicBoolean restarting = new AtomicBoolean();
    Engine engine =
        intercepted(
            new Store(
                real.jobs(),
                real.queues(),
                real.wakeUps(),
                real.members(),
                inspector,
                real.epoch(),
                real.calls(),
                real.schedules(),
                real.calendars()),
            options("engine"),
            (call, ask) -> {
              if (call.equals("advance") && restarting.get()) {
                held.countDown();
                await(restarted);
              }
              return ask.call();
            });
    awaitNode(engine, answer.get());
    awaitSequence(3);

    restarting.set(true);
    await(held);
    Resp.call(server.port(), "DEL", prefix + ":epoch");
    answer.set(node("redis:6379", "after", nothing, true));
    restarted.countDown();

    eventually().until(() -> engine.lossJournal().newest() > 0);
    assertThat(engine.lossJournal().entries())
        .extracting(LossEntry::kind)
        .containsExactly(LossEntry.Kind.EMPTIED, LossEntry.Kind.RESTARTED);
  }

  /** Returns a primary that syncs each write, so that a restart alone loses nothing. */
  private static StoreNode primary(String address, String runId) {
    return node(address, runId, StoreNode.Persistence.SYNCED_LOG, true);
  }

  private static StoreNode node(
      String address, String runId, StoreNode.Persistence persistence, boolean answered) {
    return new StoreNode(
        address,
        "7.0.15",
        runId,
        "history of " + runId,
        1,
        false,
        persistence,
        "noeviction",
        null,
        null,
        answered);
  }

  private static void awaitNode(Engine engine, StoreNode node) {
    awaitHealth(engine, health -> health.nodes().contains(node));
  }

  @Test
  void aRestartIsOneEntryAlthoughAReplicaChangesTheReplicationId() throws IOException {
    try (RedisServer primary = RedisServer.startTemporary("--appendonly", "yes");
        RedisServer replica = RedisReplica.of(primary)) {
      JedisConnectionFactory connections = connections("127.0.0.1", primary.port());
      CountDownLatch attached = new CountDownLatch(1);
      AtomicBoolean slow = new AtomicBoolean();
      Store store =
          RedisStore.connect(connections, new StoreOptions(prefix, Duration.ofMinutes(10)));
      Engine first = engine(store, options("first"), TestDispatcher.done(), null);
      Engine second =
          intercepted(
              store,
              options("second"),
              (call, real) -> {
                if (slow.get()) {
                  await(attached);
                }
                return real.call();
              });
      for (Engine each : List.of(first, second)) {
        awaitHealth(each, health -> !health.nodes().isEmpty());
      }

      Resp.call(replica.port(), "REPLICAOF", "NO", "ONE");
      slow.set(true);
      primary.kill();
      primary.start();
      eventually().until(() -> !entries(first, LossEntry.Kind.RESTARTED).isEmpty());
      String before = first.storeHealth().nodes().get(0).replicationId();
      RedisReplica.follow(replica, primary.port());
      eventually().until(() -> !Resp.call(primary.port(), "INFO", "replication").contains(before));
      attached.countDown();

      String run = first.storeHealth().nodes().get(0).runId();
      awaitHealth(second, health -> health.nodes().get(0).runId().equals(run));
      long looked = Long.parseLong(field(primary, "sequence"));
      eventually().until(() -> Long.parseLong(field(primary, "sequence")) > looked + 4);
      assertThat(first.lossJournal().entries()).hasSize(1);
      first.close();
      second.close();
      connections.destroy();
    }
  }

  @Test
  void anEngineRefusesToStartOnAStoreThatCannotKeepWhatIsPromised() {
    StoreOptions synced =
        new StoreOptions(
            prefix, Duration.ofMinutes(10), Durability.parse("synced", Duration.ofSeconds(1)));
    try (RedisServer forgetful = RedisServer.startTemporary("--appendonly", "no")) {
      JedisConnectionFactory connections = connections("127.0.0.1", forgetful.port());
      try (Engine engine =
          Engines.create(
              RedisStore.connect(connections, synced), options("engine"), TestDispatcher.done())) {
        assertThatIllegalStateException()
            .isThrownBy(engine::start)
            .withMessageContaining("punctual.durability=synced cannot be kept: Redis at 127.0.0.1:")
            .withMessageContaining("set appendonly yes");
      }
      connections.destroy();
    }
  }
}
