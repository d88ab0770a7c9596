package io.punctual.core.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.DelayQueueJob;
import io.punctual.RetryPolicy;
import io.punctual.core.ClaimToken;
import io.punctual.core.Claims;
import io.punctual.core.DeathCause;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.QueueListener;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.Settled;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.query.JobView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ClaimsIT extends EngineTestBase {

  private static final QueueName OTHER = new QueueName(APP, "other");

  private static PullRequest request(Duration patience, int max, QueueName... queues) {
    return new PullRequest(List.of(queues), max, patience, null, "tester");
  }

  /** Waits for jobs and leases them for the given time to run. */
  private static CompletableFuture<List<PulledJob>> waiting(
      Engine engine, int max, Duration timeToRun) {
    return engine
        .claims()
        .pull(new PullRequest(List.of(QUEUE), max, Duration.ofSeconds(20), timeToRun, "tester"));
  }

  private static CompletableFuture<List<PulledJob>> waiting(Engine engine, QueueName... queues) {
    return engine.claims().pull(request(Duration.ofSeconds(20), 1, queues));
  }

  private static List<PulledJob> now(Engine engine, int max) throws Exception {
    return engine.claims().pull(request(Duration.ZERO, max, QUEUE)).get(20, TimeUnit.SECONDS);
  }

  private static TestDispatcher nobody() {
    TestDispatcher dispatcher = TestDispatcher.done();
    dispatcher.capacity.set(0);
    return dispatcher;
  }

  private static Settled.Kind kind(CompletableFuture<Settled> settled) throws Exception {
    return settled.get(20, TimeUnit.SECONDS).kind();
  }

  @Test
  void whatIsDueIsTakenInTheOrderOfDueTimes() throws Exception {
    Engine engine = engine(nobody());
    submit(engine, "second", job -> job.delayTime(2000));
    submit(engine, "first", job -> job.delayTime(1000));
    submit(engine, "later", Duration.ofHours(1));

    List<PulledJob> jobs = now(engine, 10);
    assertThat(jobs).extracting(job -> job.token().taskId()).containsExactly("first", "second");
    assertThat(jobs.get(0).attempt()).isEqualTo(1);
    assertThat(jobs.get(0).timeToRun()).isEqualTo(60_000);
    assertThat(now(engine, 10)).isEmpty();
    assertThat(kind(engine.claims().done(jobs.get(0).token()))).isEqualTo(Settled.Kind.DONE);
    assertThat(kind(engine.claims().done(jobs.get(0).token())))
        .isEqualTo(Settled.Kind.ALREADY_DONE);
    assertThat(engine.find(QUEUE, "first").orElseThrow().state()).isEqualTo(JobState.FINISHED);
    assertThat(engine.find(QUEUE, "second").orElseThrow().owner()).isEqualTo("tester");
  }

  @Test
  void whoWaitsIsServedWhenAJobFallsDue() throws Exception {
    Engine engine = engine(nobody());
    CompletableFuture<List<PulledJob>> waits = waiting(engine, QUEUE);
    submit(engine, "a", Duration.ofMillis(300));

    PulledJob job = waits.get(20, TimeUnit.SECONDS).get(0);
    assertThat(job.token().taskId()).isEqualTo("a");
    // The claim is not before its time by the store's clock, and soon after.
    assertThat(job.until() - 60_000).isBetween(job.dueTime(), job.dueTime() + 5_000);
  }

  @Test
  void whoWaitsForSeveralQueuesGetsTheFirstThatComes() throws Exception {
    Engine engine = engine(nobody());
    CompletableFuture<List<PulledJob>> waits = waiting(engine, QUEUE, OTHER);
    engine
        .submit(
            APP, DelayQueueJob.of("other").taskId("b").delay(Duration.ofMillis(50)).build(), false)
        .get(20, TimeUnit.SECONDS);

    assertThat(waits.get(20, TimeUnit.SECONDS).get(0).token().queue()).isEqualTo(OTHER);
    submit(engine, "a", Duration.ZERO);
    assertThat(waiting(engine, QUEUE, OTHER).get(20, TimeUnit.SECONDS)).hasSize(1);
  }

  @Test
  void thoseWhoWaitAreServedInTheOrderInWhichTheyCame() throws Exception {
    Engine engine = engine(nobody());
    List<Integer> served = Collections.synchronizedList(new ArrayList<>());
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      int number = i;
      all.add(waiting(engine, QUEUE).thenAccept(jobs -> served.add(number)));
    }
    for (int i = 0; i < 50; i++) {
      submit(engine, "job" + i, Duration.ofMillis(i % 3));
    }
    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
    assertThat(served).isSorted().hasSize(50);
  }

  @Test
  void aWaitThatIsOverGetsNothingAndTakesNothing() throws Exception {
    Engine engine = engine(nobody());
    assertThat(
            engine
                .claims()
                .pull(request(Duration.ofMillis(20), 1, QUEUE))
                .get(20, TimeUnit.SECONDS))
        .isEmpty();
    CompletableFuture<List<PulledJob>> gone = waiting(engine, QUEUE);
    gone.complete(List.of());
    submit(engine, "a", Duration.ZERO);
    assertThat(waiting(engine, QUEUE).get(20, TimeUnit.SECONDS)).hasSize(1);
    assertThat(engine.find(QUEUE, "a").orElseThrow().attempt()).isEqualTo(1);
  }

  @Test
  void aJobThatIsNotEndedComesBackAfterItsTimeToRun() throws Exception {
    Engine engine = engine(nobody());
    submit(
        engine,
        "a",
        job ->
            job.delay(Duration.ZERO)
                .timeToRun(Duration.ofSeconds(5))
                .retry(RetryPolicy.parse("0s;attempts=2")));
    PulledJob first = waiting(engine, QUEUE).get(20, TimeUnit.SECONDS).get(0);
    engine.claims().received(List.of(first));
    PulledJob second = waiting(engine, 1, Duration.ofMinutes(1)).get(20, TimeUnit.SECONDS).get(0);

    assertThat(second.attempt()).isEqualTo(2);
    assertThat(engine.claims().extend(first.token(), null)).isEmpty();
    assertThat(kind(engine.claims().failed(first.token(), "w", "no", null)))
        .isEqualTo(Settled.Kind.LEASE_LOST);
    assertThat(engine.claims().extend(second.token(), Duration.ofMinutes(5)).orElseThrow().until())
        .isGreaterThan(second.until());
    assertThat(kind(engine.claims().failed(second.token(), "w", "no", null)))
        .isEqualTo(Settled.Kind.DEAD);
    JobView dead = engine.find(QUEUE, "a").orElseThrow();
    assertThat(dead.failures())
        .extracting(JobView.Failure::kind)
        .containsExactly("failed", "lease");
    assertThat(kind(engine.claims().done(first.token()))).isEqualTo(Settled.Kind.DONE);
  }

  @Test
  void aJobThatNeverReachedItsPullerComesBackWithoutAnAttempt() throws Exception {
    Engine engine = engine(store(), buckets(2), nobody(), null);
    for (int i = 0; i < 10; i++) {
      submit(
          engine,
          "j" + i,
          job ->
              job.delay(Duration.ZERO).timeToRun(Duration.ofSeconds(1)).retry(RetryPolicy.NEVER));
    }
    assertThat(pulled(engine, 10)).hasSize(10);
    // The answers are lost; each job comes again when its lease is over, as if for the first time.
    List<PulledJob> again = new ArrayList<>();
    while (again.size() < 10) {
      again.addAll(
          waiting(engine, 10 - again.size(), Duration.ofSeconds(8)).get(20, TimeUnit.SECONDS));
    }
    assertThat(again).extracting(PulledJob::attempt).containsOnly(1);

    // These arrive, and are never ended: the one attempt that they have is used up.
    engine.claims().received(again);
    eventually()
        .untilAsserted(() -> assertThat(engine.stats(QUEUE).orElseThrow().dead()).isEqualTo(10));
  }

  @Test
  void anExtendedLeaseWasReceived() throws Exception {
    Engine engine = engine(store(), buckets(2), nobody(), null);
    submit(engine, "a", job -> job.delay(Duration.ZERO).retry(RetryPolicy.NEVER));
    PulledJob job = pulled(engine, 1).get(0);
    engine.claims().extend(job.token(), Duration.ofSeconds(1));
    // Its lease of a minute stays: what extends never shortens.
    assertThat(lease(engine, "a")).contains(" 1 1 ");
  }

  @Test
  void marksThatWaitAreWrittenWhenTheEngineStops() throws Exception {
    Engine engine = engine(store(), buckets(2), nobody(), null);
    submit(engine, "a", job -> job.delay(Duration.ZERO).retry(RetryPolicy.NEVER));
    engine.claims().received(pulled(engine, 1));
    engine.stop(Duration.ofSeconds(5));
    assertThat(lease(engine, "a")).contains(" 1 1 ");
  }

  private String lease(Engine engine, String taskId) {
    for (int index = 0; index < 2; index++) {
      byte[] key = (prefix + ":{" + APP + ":" + TYPE + ":" + index + "}:leases").getBytes(UTF_8);
      byte[] lease = connections.getConnection().hashCommands().hGet(key, taskId.getBytes(UTF_8));
      if (lease != null) {
        return new String(lease, UTF_8);
      }
    }
    throw new AssertionError(taskId + " is not reserved: " + engine.find(QUEUE, taskId));
  }

  /** Pulls until it has so many, from all buckets. */
  private static List<PulledJob> pulled(Engine engine, int count) throws Exception {
    List<PulledJob> all = new ArrayList<>();
    while (all.size() < count) {
      all.addAll(
          engine
              .claims()
              .pull(request(Duration.ofSeconds(20), count - all.size(), QUEUE))
              .get(20, TimeUnit.SECONDS));
    }
    return all;
  }

  @Test
  void aPullerThatGivesBackWhatItGetsStarvesNoOtherJobs() throws Exception {
    Engine engine = engine(store(), buckets(2), nobody(), null);
    for (int i = 0; i < 40; i++) {
      submit(engine, "j" + i, Duration.ZERO);
    }
    Set<String> seen = new HashSet<>();
    int pulls = 0;
    while (seen.size() < 40) {
      // Each pull takes a bucket by chance: so many miss none of them.
      assertThat(pulls++).isLessThan(200);
      PulledJob job = now(engine, 1).get(0);
      seen.add(job.token().taskId());
      assertThat(kind(engine.claims().release(job.token(), Duration.ZERO)))
          .isEqualTo(Settled.Kind.RETRY);
    }
  }

  @Test
  void aReleasedJobWaitsForItsDelay() throws Exception {
    Engine engine = engine(nobody());
    submit(engine, "a", Duration.ZERO);
    PulledJob job = now(engine, 1).get(0);
    Settled settled =
        engine.claims().release(job.token(), Duration.ofMinutes(5)).get(20, TimeUnit.SECONDS);
    assertThat(settled.kind()).isEqualTo(Settled.Kind.RETRY);
    assertThat(now(engine, 1)).isEmpty();
    JobView waits = engine.find(QUEUE, "a").orElseThrow();
    assertThat(waits.at()).isEqualTo(settled.at());
    assertThat(waits.tries().attempts()).isZero();
    assertThat(waits.tries().firstDue()).isEqualTo(job.dueTime());
  }

  /** Puts a key of a foreign type in the place of one of a bucket. */
  private void damage(String type, int bucket) {
    connections.getConnection().stringCommands().set(key(type, bucket, "control"), new byte[] {1});
  }

  private byte[] key(String type, int bucket, String suffix) {
    return (prefix + ":{" + APP + ":" + type + ":" + bucket + "}:" + suffix).getBytes(UTF_8);
  }

  private static String in(int bucket, String name) {
    for (int i = 0; ; i++) {
      if (Bucket.of(QUEUE, name + i, 2).index() == bucket) {
        return name + i;
      }
    }
  }

  @Test
  void aDamagedBucketCostsNoJobOfTheOthersAnAttempt() throws Exception {
    Engine engine = engine(store(), buckets(2), nobody(), null);
    submit(engine, in(0, "far"), Duration.ofHours(1));
    damage(TYPE, 1);
    for (int i = 0; i < 20; i++) {
      String id = in(0, "job-" + i + "-");
      submit(engine, id, job -> job.delay(Duration.ZERO).retry(RetryPolicy.NEVER));
      // In any order of the buckets: what the whole one gave is there, each time.
      List<PulledJob> jobs = now(engine, 10);
      assertThat(jobs).extracting(job -> job.token().taskId()).containsExactly(id);
      assertThat(kind(engine.claims().done(jobs.get(0).token()))).isEqualTo(Settled.Kind.DONE);
    }
    assertThat(now(engine, 10)).isEmpty();
    assertThat(engine.scanners().damaged()).containsKey(QUEUE);
    connections.getConnection().keyCommands().del(key(TYPE, 1, "control"));
  }

  @Test
  void aDamagedQueueIsNotInTheWayOfOthersThatAreAskedForWithIt() throws Exception {
    Engine engine = engine(nobody());
    submit(engine, "a", Duration.ofHours(1));
    damage(TYPE, 0);
    assertThatThrownBy(() -> engine.claims().pull(request(Duration.ZERO, 1, QUEUE)))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("control is a string");

    PullRequest both = request(Duration.ofSeconds(20), 1, QUEUE, OTHER);
    assertThat(engine.claims().pull(request(Duration.ZERO, 1, QUEUE, OTHER)).join()).isEmpty();
    CompletableFuture<List<PulledJob>> waits = engine.claims().pull(both);
    engine
        .submit(APP, DelayQueueJob.of("other").taskId("b").delay(Duration.ZERO).build(), false)
        .get(20, TimeUnit.SECONDS);
    assertThat(waits.get(20, TimeUnit.SECONDS).get(0).token().queue()).isEqualTo(OTHER);
    assertThat(engine.scanners().damaged()).containsOnlyKeys(QUEUE);
    connections.getConnection().keyCommands().del(key(TYPE, 0, "control"));
  }

  @Test
  void aJobWithoutItsRecordThatAPullFindsIsReported() throws Exception {
    Queue<DeathCause> died = new ConcurrentLinkedQueue<>();
    EngineOptions options =
        options(
                "engine",
                queue ->
                    new QueueListener() {
                      @Override
                      public void died(DeathCause cause, int jobs) {
                        died.add(cause);
                      }
                    })
            .with()
            .buckets(2)
            .build();
    Engine engine = engine(deafStore(), options, nobody(), null);
    String id = in(1, "job");
    submit(engine, id, Duration.ZERO);
    connections.getConnection().hashCommands().hDel(key(TYPE, 1, "jobs"), id.getBytes(UTF_8));
    assertThat(now(engine, 5)).isEmpty();
    assertThat(died).containsExactly(DeathCause.CORRUPT);
  }

  @Test
  void aFailureWaitsAsLongAsAskedForElseAsThePolicySays() throws Exception {
    Engine engine = engine(nobody());
    submit(engine, "a", job -> job.delay(Duration.ZERO).retry(RetryPolicy.parse("1h,2h")));
    PulledJob job = waiting(engine, QUEUE).get(20, TimeUnit.SECONDS).get(0);
    Settled waits = engine.claims().failed(job.token(), "w", "no", null).get(20, TimeUnit.SECONDS);
    assertThat(waits.at()).isGreaterThan(job.dueTime() + Duration.ofMinutes(30).toMillis());

    submit(engine, "b", Duration.ZERO);
    job = waiting(engine, QUEUE).get(20, TimeUnit.SECONDS).get(0);
    assertThat(kind(engine.claims().failed(job.token(), "w", "no", Duration.ZERO)))
        .isEqualTo(Settled.Kind.RETRY);
    job = waiting(engine, QUEUE).get(20, TimeUnit.SECONDS).get(0);
    assertThat(kind(engine.claims().release(job.token(), Duration.ZERO)))
        .isEqualTo(Settled.Kind.RETRY);
    job = waiting(engine, QUEUE).get(20, TimeUnit.SECONDS).get(0);
    assertThat(job.attempt()).isEqualTo(2);
    assertThat(kind(engine.claims().rejected(job.token(), "w", "never")))
        .isEqualTo(Settled.Kind.DEAD);
  }

  @Test
  void aPausedQueueGivesNothingUntilItIsLetGo() throws Exception {
    TestDispatcher dispatcher = TestDispatcher.done();
    Engine engine = engine(dispatcher);
    submit(engine, "pushed", Duration.ZERO);
    eventually().until(() -> dispatcher.seen.contains("pushed"));
    Long since = engine.operations().pause(QUEUE, true);
    assertThat(since).isPositive();
    submit(engine, "a", Duration.ZERO);
    assertThat(now(engine, 5)).isEmpty();
    assertThat(engine.claims().paused(List.of(QUEUE, OTHER))).containsExactly(QUEUE);
    assertThat(engine.stats(QUEUE).orElseThrow().pausedSince()).isEqualTo(since);
    assertThat(dispatcher.seen).containsExactly("pushed");

    assertThat(engine.operations().pause(QUEUE, false)).isNull();
    eventually().until(() -> dispatcher.seen.contains("a"));
  }

  @Test
  void pushAndPullShareAQueueAndEveryJobIsHandedOutOnce() throws Exception {
    Set<String> handedOut = ConcurrentHashMap.newKeySet();
    AtomicInteger twice = new AtomicInteger();
    AtomicInteger pushed = new AtomicInteger();
    AtomicInteger pulled = new AtomicInteger();
    Engine engine =
        engine(
            new TestDispatcher(
                delivery -> {
                  pushed.incrementAndGet();
                  if (!handedOut.add(delivery.taskId())) {
                    twice.incrementAndGet();
                  }
                  var unused = delivery.done();
                }));
    Engine second = engine(store(), options("second"), nobody(), null);
    for (int i = 0; i < 2_000; i++) {
      var unused =
          engine.submit(
              APP,
              DelayQueueJob.of(TYPE).taskId("j" + i).delay(Duration.ofMillis(500)).build(),
              false);
    }
    List<Thread> pullers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Engine from = i % 2 == 0 ? engine : second;
      Thread puller =
          new Thread(
              () -> {
                while (handedOut.size() < 2_000) {
                  for (PulledJob job :
                      from.claims().pull(request(Duration.ofMillis(200), 7, QUEUE)).join()) {
                    pulled.incrementAndGet();
                    if (!handedOut.add(job.token().taskId())) {
                      twice.incrementAndGet();
                    }
                    from.claims().done(job.token()).join();
                  }
                }
              });
      puller.start();
      pullers.add(puller);
    }
    for (Thread puller : pullers) {
      puller.join(30_000);
    }
    eventually()
        .untilAsserted(
            () ->
                assertThat(engine.stats(QUEUE).orElseThrow().counters())
                    .containsEntry("done", 2_000L));
    assertThat(twice.get()).isZero();
    assertThat(pushed.get() + pulled.get()).isEqualTo(2_000);
    assertThat(pushed.get()).isPositive();
    assertThat(pulled.get()).isPositive();
  }

  @Test
  void aTokenIsReadBack() throws Exception {
    Engine engine = engine(nobody());
    submit(engine, "a", Duration.ZERO);
    ClaimToken token = waiting(engine, QUEUE).get(20, TimeUnit.SECONDS).get(0).token();
    assertThat(token.text()).matches("[A-Za-z0-9_-]+");
    assertThat(ClaimToken.parse(token.text())).isEqualTo(token);
    for (String bad : List.of("", "x", "%%%", "AAAA", "a".repeat(2000))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> ClaimToken.parse(bad))
          .withMessageContaining("token");
    }
  }

  @Test
  void aPullerHearsByACheckOrAnExtensionThatItIsToStop() throws Exception {
    Engine engine = engine(nobody());
    submit(engine, "a", job -> job.delay(Duration.ZERO).retry(RetryPolicy.NEVER));
    submit(engine, "b", Duration.ZERO);
    PulledJob first = waiting(engine, 1, Duration.ofMinutes(1)).get(20, TimeUnit.SECONDS).get(0);
    PulledJob second = waiting(engine, 1, Duration.ofMinutes(1)).get(20, TimeUnit.SECONDS).get(0);
    ClaimToken never = new ClaimToken(QUEUE, "c", "none", second.token().lease());
    List<ClaimToken> all = List.of(first.token(), second.token(), never);
    assertThat(engine.claims().check(all)).isEqualTo(new Claims.Checked(List.of(never), List.of()));

    String id = first.token().taskId();
    assertThat(engine.operations().cancel(QUEUE, id, null, /* interrupt= */ true).kind())
        .isEqualTo(Cancelled.Kind.CANCELLING);
    assertThat(engine.claims().check(all))
        .isEqualTo(new Claims.Checked(List.of(never), List.of(first.token())));
    assertThat(engine.claims().extend(first.token(), null).orElseThrow().cancelling()).isTrue();
    assertThat(engine.claims().extend(second.token(), null).orElseThrow().cancelling()).isFalse();
    assertThat(kind(engine.claims().failed(first.token(), "w", "it stopped", null)))
        .isEqualTo(Settled.Kind.CANCELLED);
    assertThat(engine.find(QUEUE, id).orElseThrow().state()).isEqualTo(JobState.CANCELLED);
  }
}
