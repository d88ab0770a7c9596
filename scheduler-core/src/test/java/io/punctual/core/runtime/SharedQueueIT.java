package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.DelayQueueJob;
import io.punctual.core.Delivery;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.Operations;
import io.punctual.core.Submit;
import io.punctual.core.WakeCause;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.core.scan.ScanSignals;
import io.punctual.core.store.Store;
import io.punctual.redis.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Several engines on one store. */
class SharedQueueIT extends EngineTestBase {

  @Test
  void twoEnginesShareAQueueAndNoJobGoesOutTwice() {
    TestDispatcher one = TestDispatcher.done();
    TestDispatcher two = TestDispatcher.done();
    // Many buckets, so that each owns some.
    Engine first = engine(store(), options("one").with().buckets(16).build(), one, null);
    engine(store(), options("two"), two, null);

    List<CompletableFuture<Submit>> answers = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      DelayQueueJob job =
          DelayQueueJob.of(TYPE).taskId("job-" + i).delay(Duration.ofMillis(i % 500)).build();
      answers.add(first.submit(APP, job, false));
    }
    answers.forEach(CompletableFuture::join);
    eventually().until(() -> one.seen.size() + two.seen.size() >= 3000);
    Collection<String> all = new ArrayList<>(one.seen);
    all.addAll(two.seen);
    assertThat(all).hasSize(3000).doesNotHaveDuplicates();
    assertThat(one.seen).isNotEmpty();
    assertThat(two.seen).isNotEmpty();
  }

  @Test
  void aBoundHoldsForAllEnginesAndJobsGoOnAsSoonAsOneEnds() throws Exception {
    AtomicInteger out = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger done = new AtomicInteger();
    ExecutorService workers = Executors.newCachedThreadPool();
    try {
      Consumer<Delivery> work =
          delivery -> {
            most.accumulateAndGet(out.incrementAndGet(), Math::max);
            workers.execute(
                () -> {
                  out.decrementAndGet();
                  delivery.done().join();
                  done.incrementAndGet();
                });
          };
      Engine first = engine(store(), options("one"), new TestDispatcher(work), null);
      engine(store(), options("two"), new TestDispatcher(work), null);
      submit(first, "known", Duration.ofHours(1));
      first.operations().limit(QUEUE, new Throttle(3, null));
      long due = System.currentTimeMillis() + 500;
      for (int i = 0; i < 600; i++) {
        submit(first, "job-" + i, job -> job.delayTime(due));
      }
      long start = System.nanoTime();
      eventually().until(() -> done.get() == 600);
      assertThat(most.get()).isBetween(1, 3);
      // At a look a second it would take 200 s.
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(60));
      assertThat(first.stats(QUEUE).orElseThrow().throttle()).isEqualTo(new Throttle(3, null));
    } finally {
      workers.shutdown();
    }
  }

  @Test
  void boundsAreSplitAmongBucketsAndShownAsOne() {
    Engine engine = engine(store(), buckets(4), TestDispatcher.done(), null);
    submit(engine, "known", Duration.ofHours(1));
    Operations operations = engine.operations();

    Throttle bounds = new Throttle(10, Throttle.Rate.parse("100/s"));
    operations.limit(QUEUE, bounds);
    assertThat(engine.stats(QUEUE).orElseThrow().throttle()).isEqualTo(bounds);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> operations.limit(QUEUE, new Throttle(3, null)))
        .withMessageContaining("at least the number of the queue's buckets, 4");
    operations.limit(QUEUE, Throttle.NONE);
    assertThat(engine.stats(QUEUE).orElseThrow().throttle()).isEqualTo(Throttle.NONE);
    assertThatExceptionOfType(NoSuchElementException.class)
        .isThrownBy(() -> operations.limit(new QueueName(APP, "none"), bounds));
  }

  @Test
  void aSubmitElsewhereWakesTheScannerHere() throws Exception {
    Asleep asleep = new Asleep();
    TestDispatcher here = TestDispatcher.done();
    TestDispatcher nobody = new TestDispatcher();
    nobody.capacity.set(0);
    EngineOptions rareChecks = rareChecks("here");
    Engine elsewhere = engine(store(), options("elsewhere"), nobody, null);
    submit(elsewhere, "far", Duration.ofHours(1));
    engine(store(), rareChecks, here, asleep);
    asleep.await();

    // Each time a new earliest job; the checks are a minute apart.
    for (int i = 0; i < 5; i++) {
      submit(elsewhere, "near-" + i, Duration.ofMillis(20));
      int number = i;
      eventually().until(() -> here.seen.contains("near-" + number));
    }
    assertThat(here.seen).doesNotContain("far");
  }

  @Test
  void aLostHintIsMadeUpForByTheSafetyCheck() throws Exception {
    Asleep asleep = new Asleep();
    TestDispatcher deaf = TestDispatcher.done();
    TestDispatcher nobody = new TestDispatcher();
    nobody.capacity.set(0);
    Engine elsewhere = engine(store(), options("elsewhere"), nobody, null);
    submit(elsewhere, "far", Duration.ofHours(1));
    engine(deafStore(), options("deaf"), deaf, asleep);
    asleep.await();
    submit(elsewhere, "near", Duration.ofMillis(20));
    eventually().until(() -> deaf.seen.contains("near"));
  }

  @Test
  void aQueueThatIsMadeElsewhereIsFound() {
    TestDispatcher deaf = TestDispatcher.done();
    engine(deafStore(), options("deaf"), deaf, null);
    TestDispatcher nobody = new TestDispatcher();
    nobody.capacity.set(0);
    Engine elsewhere = engine(store(), options("elsewhere"), nobody, null);
    submit(elsewhere, "a", Duration.ZERO);
    eventually().until(() -> deaf.seen.contains("a"));
  }

  @Test
  void theJobsOfAKilledEngineMoveOnWhenTheLeaseHasRunOut() {
    TestDispatcher dying = new TestDispatcher();
    Engine killed = engine(store(), options("dying"), dying, null);
    submit(killed, "a", Duration.ZERO);
    Delivery first = dying.next();
    TestDispatcher survivor = new TestDispatcher();
    Engine heir = engine(store(), options("survivor"), survivor, null);
    killed.close();

    Delivery second = survivor.next();
    assertThat(second.taskId()).isEqualTo("a");
    assertThat(second.attempt()).isEqualTo(2);
    assertThat(second.tries().unknown()).isEqualTo(1);
    assertThat(second.dueTime()).isEqualTo(first.dueTime());
    assertThat(second.incarnation()).isEqualTo(first.incarnation());
    assertThat(lastError(heir.find(QUEUE, "a").orElseThrow()).kind()).isEqualTo("lease");
    assertThat(first.leaseHeld()).isFalse();
    second.done().join();
  }

  @Test
  void aHeartbeatKeepsALongDelivery() {
    TestDispatcher one = new TestDispatcher();
    TestDispatcher two = new TestDispatcher();
    Engine first = engine(store(), options("one"), one, null);
    submit(first, "long", Duration.ZERO);
    Delivery delivery = one.next();
    Engine second = engine(store(), options("two"), two, null);
    long claimed = second.find(QUEUE, "long").orElseThrow().at();
    // The deadline moves on by more than four leases, and nobody takes the job meanwhile.
    eventually().until(() -> second.find(QUEUE, "long").orElseThrow().at() > claimed + 4000);
    assertThat(delivery.leaseHeld()).isTrue();
    delivery.done().join();
    assertThat(one.seen).containsExactly("long");
    assertThat(two.seen).isEmpty();
  }

  @Test
  void aPauseOfTheStoreTakesNoJobFromAHealthyEngine() throws Exception {
    try (RedisServer own = RedisServer.startTemporary()) {
      var ownConnections = connections("127.0.0.1", own.port());
      Store ownStore =
          io.punctual.core.store.redis.RedisStore.connect(
              ownConnections, io.punctual.core.store.redis.script.StoreOptions.DEFAULTS);
      TestDispatcher one = new TestDispatcher();
      TestDispatcher two = new TestDispatcher();
      Failed failed = new Failed();
      Engine first = engine(ownStore, options("one"), one, null);
      submit(first, "a", Duration.ZERO);
      Delivery delivery = one.next();
      engine(ownStore, options("two"), two, failed);
      // One that does not know the queue yet would look at nothing.
      failed.awaitSleep();
      // A call of the other one breaks: the store has been silent for two leases.
      own.suspend();
      failed.await();
      own.resume();
      eventually().until(delivery::leaseHeld);
      delivery.done().join();
      submit(first, "b", Duration.ZERO);
      eventually().until(() -> one.seen.contains("b") || two.seen.contains("b"));
      assertThat(one.seen).containsOnlyOnce("a");
      assertThat(two.seen).doesNotContain("a");
      closeEngines();
      ownConnections.destroy();
    }
  }

  /** Waits until a scanner sleeps. */
  private static final class Asleep implements ScanSignals {
    private final CountDownLatch asleep = new CountDownLatch(1);

    @Override
    public void asleep(Bucket bucket, long nanos, WakeCause until) {
      asleep.countDown();
    }

    void await() throws InterruptedException {
      assertThat(asleep.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  /** Waits until a scanner sleeps, and until a call fails. */
  private static final class Failed implements ScanSignals {
    private final Asleep sleep = new Asleep();
    private final CountDownLatch failed = new CountDownLatch(1);

    @Override
    public void asleep(Bucket bucket, long nanos, WakeCause until) {
      sleep.asleep(bucket, nanos, until);
    }

    void awaitSleep() throws InterruptedException {
      sleep.await();
    }

    @Override
    public void failed(Bucket bucket) {
      failed.countDown();
    }

    void await() throws InterruptedException {
      assertThat(failed.await(30, TimeUnit.SECONDS)).isTrue();
    }
  }
}
