package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayQueueJob;
import io.punctual.core.Dispatcher;
import io.punctual.core.Engine;
import io.punctual.core.EngineListener;
import io.punctual.core.EngineOptions;
import io.punctual.core.Submit;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.Opening;
import io.punctual.core.job.QueueName;
import io.punctual.core.scan.ScanSignals;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Store;
import io.punctual.core.store.WakeUps;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.redis.RedisStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.core.times.Hours;
import io.punctual.schedule.TimeRules;
import io.punctual.schedule.Windows;
import io.punctual.test.redis.RedisCluster;
import io.punctual.test.redis.RedisExtension;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.ConnectionPoolConfig;

/** Engines on a real Redis; each test has keys of its own. */
abstract class EngineTestBase {

  static final String APP = "shop";
  static final String TYPE = "order.close";
  static final QueueName QUEUE = new QueueName(APP, TYPE);

  /** Listens to nothing: every hint from elsewhere is lost. */
  static final WakeUps DEAF = listener -> () -> {};

  /** Shared by all test classes of this JVM and never closed, since some run in parallel. */
  static final JedisConnectionFactory connections =
      connections(RedisExtension.redis().host(), RedisExtension.redis().port());

  private final Deque<ScanningEngine> opened = new ArrayDeque<>();
  private final Set<TestDispatcher> dispatchers = new LinkedHashSet<>();
  final String prefix = "t" + UUID.randomUUID().toString().substring(0, 8);

  /** Whatever a test did: when its jobs have ended, nothing is left in memory. */
  @AfterEach
  void closeEngines() {
    dispatchers.forEach(TestDispatcher::releaseAll);
    List<List<String>> left = new ArrayList<>();
    for (ScanningEngine engine : opened) {
      left.add(atRest(engine));
    }
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
    assertThat(left).allSatisfy(of -> assertThat(of).isEmpty());
  }

  private static List<String> atRest(ScanningEngine engine) {
    List<String> left = new ArrayList<>();
    try {
      eventually()
          .atMost(Duration.ofSeconds(10))
          .until(
              () -> {
                left.clear();
                return !left.addAll(engine.inUse());
              });
    } catch (ConditionTimeoutException e) {
      left.add(e.getMessage());
    }
    return left;
  }

  static JedisConnectionFactory connections(String host, int port) {
    ConnectionPoolConfig pool = new ConnectionPoolConfig();
    pool.setMaxTotal(32);
    pool.setMaxIdle(32);
    JedisConnectionFactory factory =
        new JedisConnectionFactory(
            new RedisStandaloneConfiguration(host, port),
            JedisClientConfiguration.builder()
                .connectTimeout(Duration.ofSeconds(1))
                .readTimeout(Duration.ofSeconds(2))
                .usePooling()
                .poolConfig(pool)
                .build());
    factory.afterPropertiesSet();
    factory.start();
    return factory;
  }

  static JedisConnectionFactory connections(
      RedisCluster cluster, JedisClientConfiguration configuration) {
    JedisConnectionFactory factory =
        new JedisConnectionFactory(
            new RedisClusterConfiguration(cluster.addresses()), configuration);
    factory.afterPropertiesSet();
    factory.start();
    return factory;
  }

  Store store() {
    return RedisStore.connect(connections, new StoreOptions(prefix, Duration.ofMinutes(10)));
  }

  Store deafStore() {
    Store store = store();
    return new Store(
        store.jobs(),
        store.queues(),
        DEAF,
        store.members(),
        store.inspector(),
        store.epoch(),
        store.calls(),
        store.schedules(),
        store.calendars());
  }

  Engine engine(Dispatcher dispatcher) {
    return engine(store(), options("engine"), dispatcher, null);
  }

  Engine engine(
      Store store, EngineOptions options, Dispatcher dispatcher, @Nullable ScanSignals signals) {
    return started(new ScanningEngine(store, options, dispatcher, signals), dispatcher);
  }

  /** Starts an engine, and closes it behind the test. */
  Engine started(ScanningEngine engine, Dispatcher dispatcher) {
    if (dispatcher instanceof TestDispatcher test) {
      dispatchers.add(test);
    }
    opened.push(engine);
    engine.start();
    return engine;
  }

  /** Defaults but for a lease of a second, so that tests need not wait long. */
  static EngineOptions options(String owner) {
    return options(owner, EngineListener.NONE);
  }

  static EngineOptions options(String owner, EngineListener listener) {
    return EngineOptions.defaults(owner)
        .with()
        .lease(Duration.ofSeconds(1))
        .listener(listener)
        .build();
  }

  /** For queues with so many buckets. */
  static EngineOptions buckets(int buckets) {
    return options("engine").with().buckets(buckets).build();
  }

  /** With checks so rare that something else must wake a scanner in time. */
  static EngineOptions rareChecks(String owner) {
    return options(owner)
        .with()
        .safetyCheck(queue -> Duration.ofMinutes(1))
        .idleChecksPerSecond(1)
        .build();
  }

  static Submit submit(Engine engine, String taskId, Duration delay) {
    return submit(engine, taskId, job -> job.delay(delay));
  }

  static Submit submit(Engine engine, String taskId, UnaryOperator<DelayQueueJob.Builder> details) {
    DelayQueueJob job = details.apply(DelayQueueJob.of(TYPE).taskId(taskId)).build();
    try {
      return engine.submit(APP, job, false).get(20, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError("submit of " + taskId + " failed", e);
    }
  }

  static JobView.Failure lastError(JobView job) {
    JobView.Failure error = job.lastFailure();
    if (error == null) {
      throw new AssertionError("nothing went wrong with " + job);
    }
    return error;
  }

  /** Neither today nor on the days around it. */
  static TimeRules inDays() {
    String day = LocalDate.now(ZoneOffset.UTC).plusDays(3).getDayOfWeek().toString();
    return new TimeRules(
        null, null, null, Windows.parse(day.substring(0, 3) + " 00:00-24:00"), null, null);
  }

  /**
   * Submits a job that is due, to a queue that opens in a moment.
   *
   * @return when that is, epoch ms
   */
  long submitBeforeOpening(Engine engine, String taskId) {
    JobStore jobs = store().jobs();
    Bucket bucket = new Bucket(QUEUE, 0);
    submit(engine, taskId, Duration.ofHours(1));
    engine.operations().hours(QUEUE, inDays());
    var unused = engine.operations().revise(QUEUE, taskId, Due.in(0), null, null);
    // Else the engine may write after this that the queue opens in days.
    eventually().until(() -> jobs.stats(bucket).closedUntil() > 0);
    long opens = jobs.stats(bucket).now() + 700;
    jobs.opening(
        bucket, Hours.text(inDays()), new Opening(opens, opens + 60_000, 0, opens + 60_000));
    // Has the engine look again.
    unused = engine.operations().revise(QUEUE, taskId, Due.in(0), null, null);
    return opens;
  }

  static ConditionFactory eventually() {
    return Awaitility.await().pollInterval(Duration.ofMillis(10)).atMost(Duration.ofSeconds(30));
  }
}
