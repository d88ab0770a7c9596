package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayQueueJob;
import io.punctual.RetryPolicy;
import io.punctual.core.Delivery;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.Operations;
import io.punctual.core.QueueStats;
import io.punctual.core.Submit;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.query.JobView;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EngineIT extends EngineTestBase {

  @Test
  void aJobGoesOutWhenItIsDueAndIsGoneOnceDone() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);

    Submit submit =
        submit(
            engine,
            "a",
            job ->
                job.delay(Duration.ofMillis(300))
                    .params("{\"n\":1}")
                    .header("trace", "x")
                    .timeToRun(Duration.ofSeconds(7)));
    assertThat(submit.kind()).isEqualTo(Submitted.Kind.CREATED);

    Delivery delivery = dispatcher.next();
    // Both times are the store's own.
    JobView view = engine.find(QUEUE, "a").orElseThrow();
    assertThat(view.at() - Duration.ofSeconds(1).toMillis()).isGreaterThanOrEqualTo(submit.dueAt());
    assertThat(view.state()).isEqualTo(JobState.RESERVED);
    assertThat(view.owner()).isEqualTo("engine");
    assertThat(delivery.attempt()).isEqualTo(1);
    assertThat(delivery.dueTime()).isEqualTo(submit.dueAt());
    assertThat(delivery.content().params()).isEqualTo("{\"n\":1}");
    assertThat(delivery.content().headers()).containsEntry("trace", "x");
    assertThat(delivery.content().timeToRun()).isEqualTo(Duration.ofSeconds(7));
    assertThat(delivery.leaseHeld()).isTrue();

    delivery.done().join();
    assertThat(engine.find(QUEUE, "a").orElseThrow().state()).isEqualTo(JobState.FINISHED);
    assertThat(submit(engine, "b", Duration.ZERO).kind()).isEqualTo(Submitted.Kind.CREATED);
    assertThat(dispatcher.next().taskId()).isEqualTo("b");
  }

  @Test
  void aSchedulerWhoseHeartbeatIsLateEndsNoLeaseOfItsOwn() throws Exception {
    GatedStore gated = new GatedStore(store());
    GatedStore.Gate heartbeat = gated.before("extend", 0);
    TestDispatcher dispatcher = new TestDispatcher();
    EngineOptions options =
        options("engine").with().buckets(1).lease(Duration.ofSeconds(1)).build();
    Engine engine = engine(gated.store(), options, dispatcher, null);
    submit(engine, "a", Duration.ZERO);
    Delivery delivery = dispatcher.next();
    heartbeat.awaitReached();

    // Its lease would have run out twice.
    assertThat(dispatcher.poll(Duration.ofSeconds(3))).isNull();

    heartbeat.open();
    delivery.done().join();
    assertThat(engine.find(QUEUE, "a").orElseThrow().state()).isEqualTo(JobState.FINISHED);
    assertThat(dispatcher.seen).containsExactly("a");
  }

  @Test
  void manySubmissionsShareCallsAndAllAreDoneOnce() {
    Set<String> done = ConcurrentHashMap.newKeySet();
    TestDispatcher dispatcher =
        new TestDispatcher(
            delivery -> {
              assertThat(done.add(delivery.taskId())).isTrue();
              var unused = delivery.done();
            });
    Engine engine = engine(dispatcher);
    var answers =
        IntStream.range(0, 2000)
            .mapToObj(
                i ->
                    engine.submit(
                        APP,
                        DelayQueueJob.of(TYPE)
                            .taskId("job-" + i)
                            .delay(Duration.ofMillis(i % 50))
                            .build(),
                        false))
            .toList();
    answers.forEach(answer -> assertThat(answer.join().kind()).isEqualTo(Submitted.Kind.CREATED));
    eventually().until(() -> done.size() == 2000);
    eventually()
        .untilAsserted(
            () -> {
              QueueStats stats = engine.stats(QUEUE).orElseThrow();
              assertThat(stats.counters()).containsEntry("done", 2000L);
              assertThat(stats.delayed() + stats.reserved() + stats.dead()).isZero();
            });
  }

  @Test
  void anEarlierSubmitWakesTheScanner() {
    TestDispatcher dispatcher = TestDispatcher.done();
    // Without hints from the store and with rare checks, only the local bell can wake it in time.
    Engine engine = engine(deafStore(), rareChecks("engine"), dispatcher, null);
    submit(engine, "late", Duration.ofHours(1));
    submit(engine, "early", Duration.ofMillis(100));
    eventually().until(() -> dispatcher.seen.contains("early"));
    assertThat(dispatcher.seen).doesNotContain("late");
  }

  @Test
  void theSameSubmissionAgainChangesNothingAndAnotherOneNamesWhatDiffers() {
    Engine engine = engine(TestDispatcher.done());
    submit(engine, "a", job -> job.delay(Duration.ofHours(1)).params("x"));
    assertThat(submit(engine, "a", job -> job.delay(Duration.ofHours(1)).params("x")).kind())
        .isEqualTo(Submitted.Kind.ALREADY_THERE);

    Submit other =
        submit(
            engine,
            "a",
            job -> job.delay(Duration.ofHours(2)).params("y").retry(RetryPolicy.NEVER));
    assertThat(other.kind()).isEqualTo(Submitted.Kind.CONFLICT);
    assertThat(other.differing()).containsExactly("delay", "params", "retry");
  }

  @Test
  void waitingJobsAreMovedAndCancelled() {
    TestDispatcher dispatcher = TestDispatcher.done();
    Engine engine = engine(dispatcher);
    submit(engine, "a", Duration.ofHours(1));
    submit(engine, "b", Duration.ofHours(1));
    Operations operations = engine.operations();
    assertThat(operations.cancel(QUEUE, "b", null).kind()).isEqualTo(Cancelled.Kind.CANCELLED);
    operations.revise(QUEUE, "a", Due.in(0), null, null);
    eventually().until(() -> dispatcher.seen.contains("a"));
    assertThat(dispatcher.seen).containsExactly("a");

    QueueName unknown = new QueueName(APP, "unknown");
    assertThat(operations.cancel(unknown, "b", null).kind()).isEqualTo(Cancelled.Kind.UNKNOWN);
    assertThat(engine.find(unknown, "b")).isEmpty();
    assertThat(engine.stats(unknown)).isEmpty();
    assertThat(engine.queues()).containsOnlyKeys(QUEUE);
  }

  @Test
  void statisticsTellAParkedQueueAndAskForNoCapacity() {
    TestDispatcher dispatcher = TestDispatcher.done();
    dispatcher.capacity.set(0);
    Engine engine = engine(dispatcher);
    submit(engine, "a", Duration.ZERO);

    assertThat(engine.stats(QUEUE).orElseThrow().parked()).isTrue();
    dispatcher.capacity.set(1);
    assertThat(engine.stats(QUEUE).orElseThrow().parked()).isFalse();

    assertThat(dispatcher.claiming).doesNotContain(Thread.currentThread());
  }

  @Test
  void jobsOfAQueueWithSeveralBucketsAllGoOut() {
    TestDispatcher dispatcher = TestDispatcher.done();
    Engine engine = engine(store(), buckets(4), dispatcher, null);
    List<String> ids = IntStream.range(0, 40).mapToObj(Integer::toString).toList();
    ids.forEach(id -> submit(engine, id, Duration.ofMillis(50)));
    eventually().until(() -> dispatcher.seen.containsAll(ids));
    assertThat(engine.stats(QUEUE).orElseThrow().buckets()).isEqualTo(4);
    assertThat(engine.queues()).containsEntry(QUEUE, 4);
  }
}
