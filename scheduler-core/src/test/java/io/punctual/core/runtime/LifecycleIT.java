package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayQueueJob;
import io.punctual.core.Delivery;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.Submit;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.scan.ScanSignals;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.redis.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** Starting, stopping, and the store going away. */
class LifecycleIT extends EngineTestBase {

  @Test
  void aStopWaitsForOpenDeliveries() throws Exception {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    submit(engine, "a", Duration.ZERO);
    Delivery delivery = dispatcher.next();
    submit(engine, "later", Duration.ofHours(1));

    Thread stop = new Thread(() -> engine.stop(Duration.ofSeconds(30)));
    stop.start();
    eventually().until(() -> stop.getState() == Thread.State.TIMED_WAITING);
    delivery.done().join();
    stop.join(20_000);
    assertThat(stop.isAlive()).isFalse();

    Store store = store();
    assertThat(store.jobs().find(new Bucket(QUEUE, 0), "a").orElseThrow().state())
        .isEqualTo(JobState.FINISHED);
    DelayQueueJob job = DelayQueueJob.of(TYPE).delay(Duration.ZERO).build();
    assertThat(engine.submit(APP, job, false))
        .failsWithin(Duration.ofSeconds(1))
        .withThrowableOfType(java.util.concurrent.ExecutionException.class)
        .withCauseInstanceOf(StoreException.class);

    engine.start();
    submit(engine, "again", Duration.ZERO);
    Delivery again = dispatcher.next();
    assertThat(again.taskId()).isEqualTo("again");
    again.done().join();
  }

  @Test
  void whatIsStillOpenAfterTheWaitIsTakenByAnotherEngineSoon() {
    TestDispatcher dispatcher = new TestDispatcher();
    EngineOptions longLease = EngineOptions.defaults("stopping");
    Engine engine = engine(store(), longLease, dispatcher, null);
    submit(engine, "a", Duration.ZERO);
    dispatcher.next();
    engine.stop(Duration.ofMillis(50));

    TestDispatcher heir = new TestDispatcher();
    engine(store(), options("heir"), heir, null);
    Delivery again = heir.next();
    assertThat(again.attempt()).isEqualTo(2);
    assertThat(again.tries().counted()).isZero();
    again.done().join();
  }

  @Test
  void aDeferralThatTheStoreDoesNotHaveEndsWithTheEngine() throws Exception {
    try (RedisServer server = RedisServer.startTemporary()) {
      JedisConnectionFactory own = connections("127.0.0.1", server.port());
      Store store = RedisStore.connect(own, StoreOptions.DEFAULTS);
      CountDownLatch failed = new CountDownLatch(1);
      store
          .calls()
          .add(
              new StoreCalls.Listener() {
                @Override
                public void answered(String call, @Nullable Bucket bucket, long nanos) {}

                @Override
                public void failed(
                    String call, @Nullable Bucket bucket, long nanos, RuntimeException e) {
                  if (call.equals("extend")) {
                    failed.countDown();
                  }
                }
              });
      TestDispatcher dispatcher = new TestDispatcher();
      Engine engine = engine(store, EngineOptions.defaults("engine"), dispatcher, null);
      submit(engine, "a", Duration.ZERO);
      Delivery delivery = dispatcher.next();
      server.suspend();
      try {
        CompletableFuture<Void> stored = delivery.deferred(Duration.ofMinutes(10));
        assertThat(failed.await(20, TimeUnit.SECONDS)).isTrue();
        engine.close();
        assertThat(stored).failsWithin(Duration.ofSeconds(20));
      } finally {
        server.resume();
      }
      own.destroy();
    }
  }

  @Test
  void startAndStopUnderStress() throws Exception {
    for (int round = 0; round < 10; round++) {
      Engine engine = Engines.create(store(), options("stressed"), TestDispatcher.done());
      List<Throwable> errors = java.util.Collections.synchronizedList(new ArrayList<>());
      CountDownLatch go = new CountDownLatch(1);
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 8; t++) {
        int number = t;
        Thread thread =
            new Thread(
                () -> {
                  try {
                    go.await();
                    for (int i = 0; i < 20; i++) {
                      act(engine, number, ThreadLocalRandom.current().nextInt(6));
                    }
                  } catch (IllegalStateException e) {
                    // A start during a stop.
                  } catch (Throwable e) {
                    errors.add(e);
                  }
                });
        threads.add(thread);
        thread.start();
      }
      go.countDown();
      for (Thread thread : threads) {
        thread.join(30_000);
        assertThat(thread.isAlive()).isFalse();
      }
      engine.close();
      assertThat(errors).isEmpty();
    }
  }

  private static void act(Engine engine, int thread, int action) {
    switch (action) {
      case 0, 1, 2 -> engine.start();
      case 3 -> {
        if (thread == 0) {
          engine.stop(Duration.ofMillis(100));
        }
      }
      case 4 -> {
        if (thread == 1) {
          engine.close();
        }
      }
      default -> {
        DelayQueueJob job = DelayQueueJob.of(TYPE).delay(Duration.ZERO).build();
        CompletableFuture<Submit> answer = engine.submit(APP, job, false);
        try {
          answer.get(20, TimeUnit.SECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
          assertThat(e).hasCauseInstanceOf(StoreException.class);
        } catch (Exception e) {
          throw new AssertionError("a submission was never answered", e);
        }
      }
    }
  }

  @Test
  void afterARestartOfTheStoreScannersGoOnByThemselvesAndNoAckIsLost() throws Exception {
    try (RedisServer own = RedisServer.startTemporary()) {
      outage(own, own::kill, own::start, StoreException.Kind.UNREACHABLE);
    }
  }

  @Test
  void whileAForeignScriptBlocksTheStoreJobsWaitAndNoAckIsLost() throws Exception {
    try (RedisServer own = RedisServer.startTemporary("--lua-time-limit", "100");
        Socket blocking = new Socket(InetAddress.getLoopbackAddress(), own.port());
        Socket ending = new Socket(InetAddress.getLoopbackAddress(), own.port())) {
      outage(
          own,
          () -> write(blocking, "EVAL 'while true do end' 0"),
          () -> write(ending, "SCRIPT KILL"),
          StoreException.Kind.REFUSED);
    }
  }

  private static void write(Socket redis, String command) {
    try {
      redis.getOutputStream().write((command + "\r\n").getBytes(UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void outage(RedisServer own, Runnable begin, Runnable end, StoreException.Kind kind)
      throws Exception {
    var ownConnections = connections("127.0.0.1", own.port());
    Store ownStore = RedisStore.connect(ownConnections, StoreOptions.DEFAULTS);
    Queue<String> failures = new ConcurrentLinkedQueue<>();
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine =
        engine(
            ownStore,
            options("engine"),
            dispatcher,
            new ScanSignals() {
              @Override
              public void failed(Bucket bucket) {
                failures.add(bucket.toString());
              }
            });
    submit(engine, "open", Duration.ZERO);
    Delivery open = dispatcher.next();
    submit(engine, "waiting", Duration.ofMillis(300));

    begin.run();
    CompletableFuture<Void> acked = open.done();
    eventually().until(() -> failures.size() >= 3);
    assertThat(acked).isNotDone();
    DelayQueueJob refused = DelayQueueJob.of(TYPE).delay(Duration.ZERO).build();
    assertThat(engine.submit(APP, refused, false))
        .failsWithin(Duration.ofSeconds(10))
        .withThrowableOfType(java.util.concurrent.ExecutionException.class)
        .havingCause()
        .isInstanceOfSatisfying(StoreException.class, e -> assertThat(e.kind()).isEqualTo(kind));
    end.run();

    acked.get(20, TimeUnit.SECONDS);
    assertThat(engine.find(QUEUE, "open").orElseThrow().state()).isEqualTo(JobState.FINISHED);
    Delivery waiting = dispatcher.next();
    assertThat(waiting.taskId()).isEqualTo("waiting");
    waiting.done().join();
    assertThat(dispatcher.seen).containsExactly("open", "waiting");
    closeEngines();
    ownConnections.destroy();
  }

  @Test
  void aBucketWithAForeignKeyIsQuarantinedAndTheOthersRun() {
    Queue<Bucket> failures = new ConcurrentLinkedQueue<>();
    TestDispatcher dispatcher = TestDispatcher.done();
    try (var connection = connections.getConnection()) {
      connection
          .stringCommands()
          .set((prefix + ":{shop:broken:0}:delayed").getBytes(UTF_8), "x".getBytes(UTF_8));
    }
    Store store = store();
    store.queues().register(new QueueName(APP, "broken"), 1);
    Engine engine =
        engine(
            store,
            options("engine"),
            dispatcher,
            new ScanSignals() {
              @Override
              public void failed(Bucket bucket) {
                failures.add(bucket);
              }
            });
    eventually().until(() -> !failures.isEmpty());
    submit(engine, "a", Duration.ZERO);
    eventually().until(() -> dispatcher.seen.contains("a"));
    assertThat(failures).containsOnly(new Bucket(new QueueName(APP, "broken"), 0));
  }

  @Test
  void aThousandIdleQueuesStayWithinTheirBoundTogether() {
    Store store = deafStore();
    for (int i = 0; i < 1000; i++) {
      store.queues().register(new QueueName(APP, "idle-" + i), 1);
    }
    ConcurrentLinkedQueue<Long> looks = new ConcurrentLinkedQueue<>();
    EngineOptions bounded =
        EngineOptions.defaults("engine")
            .with()
            .safetyCheck(queue -> Duration.ofMillis(100))
            .idleChecksPerSecond(50)
            .build();
    long started = System.nanoTime();
    engine(
        store,
        bounded,
        TestDispatcher.done(),
        new ScanSignals() {
          @Override
          public void claimed(Bucket bucket, int jobs) {
            looks.add(System.nanoTime());
          }
        });
    // The first thousand are the start; then come the turns.
    eventually().until(() -> looks.size() >= 1400);
    long took = looks.stream().sorted().skip(1399).findFirst().orElseThrow() - started;
    // 400 turns at 50 a second take 8 s. A stall makes turns late, never early.
    assertThat(Duration.ofNanos(took)).isGreaterThan(Duration.ofSeconds(7));
  }

  private static final java.nio.charset.Charset UTF_8 = java.nio.charset.StandardCharsets.UTF_8;
}
