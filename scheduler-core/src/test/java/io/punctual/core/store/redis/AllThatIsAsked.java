package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.punctual.DelayQueueJob;
import io.punctual.core.Delivery;
import io.punctual.core.Dispatcher;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobState;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.Pause;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.core.runtime.Engines;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Lease;
import io.punctual.core.store.Members;
import io.punctual.core.store.Requeue;
import io.punctual.core.store.Revision;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Store;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.Submission;
import io.punctual.core.store.durability.Durability;
import io.punctual.core.store.durability.EpochMarker;
import io.punctual.core.store.durability.LossEntry;
import io.punctual.core.store.durability.StoreLoss;
import io.punctual.core.store.instance.InstanceMarks;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.core.store.redis.script.TimeSource;
import io.punctual.redis.Resp;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** Asks a Redis for everything that store and engine ever ask it for, and the scheduler's lists. */
final class AllThatIsAsked {

  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final String APP = "engine";

  private final RedisConnectionFactory connections;
  private final StoreOptions options;
  private final List<Integer> servers;
  private final Store store;
  private final JobStore jobs;
  private final Bucket bucket = StoreContract.bucket(0);

  AllThatIsAsked(RedisConnectionFactory connections, String prefix, List<Integer> servers) {
    this.connections = connections;
    this.servers = servers;
    this.options = new StoreOptions(prefix, Duration.ofMinutes(10));
    this.store = RedisStore.connect(connections, options);
    this.jobs = store.jobs();
  }

  void ask() throws Exception {
    everyScript();
    aLife();
    foreignKey();
    queuesAndMarks();
    instances();
    confirmation();
    wakeUps();
    aDaysHistory();
    anEngine();
    whatSpringBootAsks();
  }

  // The server keeps it; its other commands are those of the store.
  private void aDaysHistory() {
    byte[] key = Keys.bytes(options.prefix() + ":history");
    try (RedisConnection redis = connections.getConnection()) {
      redis.listCommands().lPush(key, Keys.bytes("1 1 0 0 0 0 0 0 0 - -"));
      redis.listCommands().lTrim(key, 0, 0);
      assertThat(redis.listCommands().lRange(key, 0, -1)).hasSize(1);
    }
  }

  long queues() {
    return store.queues().count();
  }

  // Each first by its text, since the server has forgotten it, and then by its hash.
  private void everyScript() throws IOException {
    for (String script : Calls.all().keySet()) {
      for (int server : servers) {
        Resp.call(server, "SCRIPT", "FLUSH");
      }
      Calls.make(script, jobs, bucket);
      Calls.make(script, jobs, bucket);
    }
    jobs.pause(bucket, false);
    jobs.pause(bucket, Pause.Scope.APPLICATION, null);
    jobs.limit(bucket, new Throttle(null, null));
    jobs.dropExpired(bucket, false);
    jobs.hours(bucket, "");
    jobs.purge(bucket, JobState.DELAYED, List.of("the-id"));
  }

  private void aLife() {
    for (String id : List.of("a", "b", "c", "d")) {
      submit(id);
    }
    claim(1, Duration.ofMillis(1));
    StoreContract.eventually().until(() -> jobs.expire(bucket, 200).retried() == 1);
    List<ClaimedJob> claimed = claim(200, LEASE);
    assertThat(claimed).hasSize(4);
    Settlement.Op[] ends = {
      Settlement.Op.DONE, Settlement.Op.REJECTED, Settlement.Op.FAILED, Settlement.Op.REJECTED
    };
    for (int i = 0; i < ends.length; i++) {
      ClaimedJob job = claimed.get(i);
      jobs.extend(bucket, List.of(new Lease(job.taskId(), job.token())), LEASE);
      jobs.settle(bucket, List.of(StoreContract.end(ends[i], job)));
    }
    for (JobState state : List.of(JobState.DELAYED, JobState.RESERVED, JobState.DEAD)) {
      jobs.list(bucket, state, null, 10);
    }
    jobs.tagged(bucket, "tag", null, 10);
    String rejected = claimed.get(1).taskId();
    jobs.requeue(bucket, List.of(Requeue.of(rejected)), Duration.ofHours(1));
    jobs.purge(bucket, JobState.DEAD, List.of(claimed.get(3).taskId()));
    jobs.revise(bucket, rejected, Revision.of(Due.in(60_000)));
    jobs.cancel(bucket, rejected, null);
    jobs.restore(bucket, rejected);
    jobs.cancel(bucket, rejected, null, false, "me", "many");
    assertThat(jobs.undoable(bucket, "many", null, 9).items()).hasSize(1);
    jobs.restore(bucket, rejected, "many");
    assertThat(jobs.stats(bucket).now()).isPositive();
    assertThat(jobs.stamps(List.of(bucket)).now()).isPositive();
  }

  private void submit(String id) {
    submit(id, Due.in(0));
  }

  private void submit(String id, Due due) {
    jobs.submit(
        bucket,
        List.of(
            new Submission(
                id,
                "i-" + id,
                due,
                3,
                0,
                List.of("tag"),
                BucketReader.bytes(id),
                /* replace= */ false)));
  }

  private List<ClaimedJob> claim(int max, Duration lease) {
    return jobs.claim(bucket, max, lease, JobStore.ClaimMode.PUSH, new LeaseToken("t-" + max), "me")
        .jobs();
  }

  private void foreignKey() {
    Bucket other = new Bucket(new QueueName("shop", "foreign"), 0);
    byte[] key = new Keys(options.prefix(), TimeSource.REDIS).of(other).get(0);
    try (RedisConnection connection = connections.getConnection()) {
      connection.stringCommands().set(key, BucketReader.bytes("foreign"));
    }
    StoreException e =
        catchThrowableOfType(
            StoreException.class, () -> jobs.purge(other, JobState.DEAD, List.of("none")));
    assertThat(e).hasMessageContaining("jobs is a string, not a hash");
  }

  private void queuesAndMarks() {
    QueueName queue = new QueueName("shop", "registered");
    assertThat(store.queues().register(queue, 2)).isEqualTo(2);
    assertThat(store.queues().buckets(queue)).hasValue(2);
    assertThat(store.queues().count()).isPositive();
    assertThat(store.queues().all()).containsKey(queue);
    assertThat(store.queues().pause("shop", Pause.Terms.NONE)).isNotNull();
    assertThat(store.queues().pauses().of()).containsKey("shop");
    assertThat(store.queues().pause("shop", null)).isNull();
    assertThat(store.epoch().advance().get(0).sequence())
        .isLessThan(store.epoch().advance().get(0).sequence());
    store
        .epoch()
        .record(List.of(new EpochMarker.Notice("restarted asked", LossEntry.Kind.RESTARTED, 1, 1)));
    store.epoch().report("emptied asked", new StoreLoss(Instant.EPOCH, "was emptied"));
    assertThat(store.epoch().journal()).isNotEmpty();
    assertThat(store.epoch().losses()).isNotEmpty();
    store.epoch().acknowledge();
    Members.Member me = new Members.Member("me", "1.2.3", null);
    assertThat(store.members().beat(me, LEASE).members()).isEmpty();
    store.members().offer(bucket, 1);
    store.members().leave(me);
    assertThat(store.inspector().nodes()).isNotEmpty();
    assertThat(store.inspector().now()).isPositive();
  }

  private void instances() {
    InstanceMarks marks = RedisStore.instanceMarks(connections, options, store.calls());
    String instance = "shop 10.0.0.1:8081";
    long noted = marks.broke(instance, "me", LEASE);
    assertThat(marks.broken(instance, noted)).isEqualTo(1);
    assertThat(marks.reserve(instance, LEASE)).isTrue();
    marks.release(instance);
    assertThat(marks.reserve(instance, LEASE)).isTrue();
  }

  // Nobody is there to confirm anything, which is found out by asking.
  private void confirmation() {
    Store strict =
        RedisStore.connect(
            connections,
            new StoreOptions(
                options.prefix(),
                options.tombstones(),
                Durability.parse("replicated:1", Duration.ofMillis(10))));
    StoreException e =
        catchThrowableOfType(
            StoreException.class, () -> strict.jobs().cancel(bucket, "none", null));
    assertThat(e).hasMessageContaining("only 0 of 1 replicas confirmed it");
  }

  private void wakeUps() throws Exception {
    StoreContract.Hearing hearing = new StoreContract.Hearing();
    try (AutoCloseable listening = store.wakeUps().listen(hearing)) {
      assertThat(listening).isNotNull();
      assertThat(heard(hearing)).isEqualTo("gap");
      submit("heard", Due.at(1));
      assertThat(heard(hearing)).startsWith("shop/order.close#0 ");
      for (int server : servers) {
        Resp.call(server, "CLIENT", "KILL", "TYPE", "pubsub");
      }
      assertThat(heard(hearing)).isEqualTo("lost");
      assertThat(heard(hearing)).isEqualTo("gap");
    }
  }

  // What was told before may come later: the nodes of a cluster tell each other.
  private static String heard(StoreContract.Hearing hearing) throws Exception {
    String next = hearing.next();
    while (next.startsWith("offered ") || next.equals("members")) {
      next = hearing.next();
    }
    return next;
  }

  private void anEngine() throws Exception {
    Dispatcher done =
        new Dispatcher() {
          @Override
          public int capacity(QueueName queue) {
            return 10;
          }

          @Override
          public void dispatch(QueueName queue, List<Delivery> deliveries) {
            deliveries.forEach(
                delivery -> {
                  var unused = delivery.done();
                });
          }
        };
    try (Engine engine = Engines.create(store, EngineOptions.defaults(APP), done)) {
      engine.start();
      DelayQueueJob job = DelayQueueJob.of("close").taskId("x").delay(Duration.ZERO).build();
      engine.submit(APP, job, false).get(20, TimeUnit.SECONDS);
      QueueName queue = new QueueName(APP, "close");
      StoreContract.eventually()
          .until(() -> engine.find(queue, "x").orElseThrow().state() == JobState.FINISHED);
      StoreContract.eventually().until(() -> !engine.storeHealth().nodes().isEmpty());
    }
  }

  private void whatSpringBootAsks() {
    try (RedisConnection connection = connections.getConnection()) {
      if (connection instanceof RedisClusterConnection cluster) {
        assertThat(cluster.clusterGetClusterInfo()).isNotNull();
      } else {
        assertThat(connection.serverCommands().info("server")).isNotNull();
      }
    }
  }
}
