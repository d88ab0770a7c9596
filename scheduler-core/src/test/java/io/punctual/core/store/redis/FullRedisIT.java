package io.punctual.core.store.redis;

import static io.punctual.core.store.JobStore.ClaimMode.PUSH;
import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.punctual.core.job.Due;
import io.punctual.core.job.JobState;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.Expired;
import io.punctual.core.store.Lease;
import io.punctual.core.store.Requeue;
import io.punctual.core.store.Requeued;
import io.punctual.core.store.Restored;
import io.punctual.core.store.Revised;
import io.punctual.core.store.Revision;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.StoreCalls;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.Submission;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.instance.RegisteredWorkers;
import io.punctual.core.store.instance.RegisteredWorkers.Bound;
import io.punctual.core.store.instance.RegisteredWorkers.Worker;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.redis.RedisServer;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** At its memory limit Redis refuses new jobs, and still gives out and finishes what it has. */
class FullRedisIT extends TransitionTestBase {

  private static final RedisServer server = RedisServer.startTemporary();
  private static final Connected redis = Connected.to("127.0.0.1", server.port());

  FullRedisIT() {
    super(redis);
  }

  @BeforeAll
  static void keepEverything() {
    redis.client().configSet("maxmemory-policy", "noeviction");
  }

  @AfterAll
  static void stop() {
    redis.client().close();
    server.close();
  }

  @Override
  @BeforeEach
  void startTheClock() {
    redis.client().configSet("maxmemory", "0");
    super.startTheClock();
  }

  private void givenInAFullRedis(BucketState state) {
    given(state);
    redis.client().configSet("maxmemory", "1");
  }

  private static Submission job(String id, String content, boolean replace) {
    return new Submission(id, "new-" + id, Due.in(5), 5, 0, List.of(), bytes(content), replace);
  }

  private static void assertRefused(ThrowingCallable call) {
    StoreException refused = catchThrowableOfType(StoreException.class, call);
    assertThat(refused.kind()).isEqualTo(StoreException.Kind.REFUSED);
    assertThat(refused).hasMessageContaining("OOM");
  }

  @Test
  void noJobIsStoredAndNothingChanges() {
    BucketState given =
        bucket()
            .delayed("waits", NOW)
            .dead("died", NOW)
            .tries("died", "0 0 3 3 3 0 5 3")
            .tomb("ran", NOW + 5, "D", "x", 5)
            .tomb("cancelled", NOW + 5, "C", "x", 5);
    givenInAFullRedis(given);

    for (Submission job :
        List.of(
            job("new", "x", false),
            job("waits", "x", true),
            job("died", "x", true),
            job("ran", "y", true),
            job("cancelled", "x", false))) {
      assertRefused(() -> store.submit(bucket, List.of(job)));
      assertRefused(() -> store.submit(bucket, List.of(job("waits", "body of waits", false), job)));
      then(given);
    }
    assertThat(store.submit(bucket, List.of(job("waits", "body of waits", false))).items())
        .extracting(Submitted.Item::kind)
        .containsExactly(Submitted.Kind.ALREADY_THERE);
    then(given);
  }

  @Test
  void jobsAreClaimed() {
    givenInAFullRedis(bucket().delayed("a", 7).with("delayed", "corrupt", "8"));

    assertThat(store.claim(bucket, 9, LEASE, PUSH, TOKEN, "me").jobs()).hasSize(1);
    then(
        bucket()
            .reserved("a", NOW + 10_000, "t-1 1 0 1000000 7 2 me")
            .with("dead", "corrupt", "1000000")
            .error("corrupt", "1000000 corrupt dead-corrupt 0 0 0\n")
            .counted("dead", 1));
  }

  @ParameterizedTest
  @EnumSource(Settlement.Op.class)
  void attemptsAreEnded(Settlement.Op op) {
    givenInAFullRedis(bucket().reserved("a", NOW + 5, HELD).tomb("old", 5, "D", "x", 1));

    Settlement settlement =
        new Settlement(op, "a", "i-a", TOKEN, Duration.ZERO, /* alone= */ false, new byte[0]);
    assertThat(store.settle(bucket, List.of(settlement)).get(0).kind())
        .isIn(Settled.Kind.DONE, Settled.Kind.RETRY, Settled.Kind.DEAD);
    assertThat(reader.read(bucket).values("reserved")).isEmpty();
  }

  @Test
  void leasesAreExtendedAndExpired() {
    givenInAFullRedis(
        bucket()
            .reserved("held", NOW + 5, HELD)
            .reserved("lost", NOW, HELD)
            .tomb("old", 5, "D", "x", 1));

    assertThat(store.extend(bucket, List.of(new Lease("held", TOKEN)), LEASE).lost()).isEmpty();
    assertThat(store.expire(bucket, 9)).isEqualTo(new Expired(NOW, 1, 0, NOW + 10_000));
    then(
        bucket()
            .reserved("held", NOW + 10_000, HELD)
            .delayed("lost", NOW)
            .tries("lost", "0 1 0 0 1 1 980000 3")
            .error("lost", "1000000 lease retry 1 990000 0\n")
            .counted("expired", 1));
  }

  @Test
  void pulledJobsAreReceived() {
    givenInAFullRedis(bucket().reserved("a", NOW + 20_000, "t-1 1 - 990000 980000 2 me"));

    assertThat(store.extend(bucket, List.of(new Lease("a", TOKEN)), LEASE).lost()).isEmpty();
    then(bucket().reserved("a", NOW + 20_000, "t-1 1 1 990000 980000 2 me"));
  }

  @Test
  void aQueueIsPausedAndLetGo() {
    givenInAFullRedis(bucket().delayed("a", NOW + 5));

    assertThat(store.pause(bucket, true).since()).isEqualTo(NOW);
    assertThat(store.pause(bucket, false).since()).isNull();
    then(bucket().delayed("a", NOW + 5));
  }

  @Test
  void jobsAreCancelledAndMoved() {
    givenInAFullRedis(bucket().delayed("a", NOW + 5).delayed("b", NOW + 6));

    assertThat(store.cancel(bucket, "a", null).kind()).isEqualTo(Cancelled.Kind.CANCELLED);
    assertThat(store.revise(bucket, "b", Revision.of(Due.in(0))).kind())
        .isEqualTo(Revised.Kind.REVISED);
    then(
        bucket()
            .tomb("a", NOW + RETENTION, "C", "body of a", NOW)
            .kept("a", NOW + 5, "0 0 0 0 0 0 1000005 2", "")
            .delayed("b", NOW)
            .tries("b", "0 0 0 0 0 0 " + NOW + " 2")
            .counted("cancelled", 1));
  }

  @Test
  void aCancelIsUndoneOnceThereIsRoom() {
    givenInAFullRedis(bucket().delayed("a", NOW + 5));
    assertThat(store.cancel(bucket, "a", null).kind()).isEqualTo(Cancelled.Kind.CANCELLED);
    BucketState cancelled = reader.read(bucket);

    assertRefused(() -> store.restore(bucket, "a"));
    then(cancelled);
    redis.client().configSet("maxmemory", "0");
    assertThat(store.restore(bucket, "a").kind()).isEqualTo(Restored.Kind.RESTORED);
  }

  @Test
  void deadLettersAreRequeuedAndPurged() {
    givenInAFullRedis(bucket().dead("a", 5).dead("b", 6));

    assertThat(store.requeue(bucket, List.of(Requeue.of("a")), Duration.ZERO).items().get(0).kind())
        .isEqualTo(Requeued.Kind.REQUEUED);
    assertThat(store.purge(bucket, JobState.DEAD, List.of("b"))).isEqualTo(1);
    then(
        bucket()
            .delayed("a", NOW)
            .tries("a", "0 0 0 0 0 0 1000000 2")
            .counted("requeued", 1)
            .counted("purged", 1));
  }

  @Test
  void jobsAreLookedAt() {
    BucketState given = bucket().delayed("a", NOW).dead("b", 6);
    givenInAFullRedis(given);

    assertThat(store.find(bucket, "a")).isPresent();
    assertThat(store.list(bucket, JobState.DEAD, null, 9).jobs()).hasSize(1);
    assertThat(store.stats(bucket).ready()).isEqualTo(1);
    then(given);
  }

  @Test
  void noQueueIsRegistered() {
    givenInAFullRedis(bucket());

    assertRefused(() -> redis.store().queues().register(bucket.queue(), 1));
    assertThat(redis.store().queues().all()).doesNotContainKey(bucket.queue());
  }

  @Test
  void jobsAreStoredAgainOnceThereIsRoom() {
    givenInAFullRedis(bucket());
    assertRefused(() -> store.submit(bucket, List.of(job("a", "x", false))));
    redis.client().configSet("maxmemory", "0");
    assertThat(store.submit(bucket, List.of(job("a", "x", false))).items()).hasSize(1);
  }

  /** Those that are there are renewed. */
  @Test
  void noWorkerRegistersThatIsNotThere() {
    var connections =
        new JedisConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", server.port()));
    connections.afterPropertiesSet();
    connections.start();
    RegisteredWorkers workers =
        RedisStore.registeredWorkers(connections, StoreOptions.DEFAULTS, new StoreCalls());
    Bound bound = new Bound(10, 1_000);
    Duration minute = Duration.ofMinutes(1);
    Worker one = new Worker("shop", "one", "x");
    Worker two = new Worker("shop", "two", "y");
    workers.put(one, "s", minute, bound, bound);
    redis.client().configSet("maxmemory", "1");

    assertRefused(() -> workers.put(two, "s", minute, bound, bound));
    assertThat(workers.put(one, "s", minute, bound, bound))
        .isEqualTo(RegisteredWorkers.Put.RENEWED);
    assertThat(workers.remove("shop", "two", "s", bound, bound)).isFalse();
    RegisteredWorkers.View view = workers.read("");
    assertThat(view).isNotNull();
    assertThat(view.workers()).containsExactly(one);
    redis.client().configSet("maxmemory", "0");
    assertThat(workers.put(two, "s", minute, bound, bound)).isEqualTo(RegisteredWorkers.Put.ENDED);
    connections.destroy();
  }
}
