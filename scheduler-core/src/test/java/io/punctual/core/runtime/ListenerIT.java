package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.RetryPolicy;
import io.punctual.core.DeathCause;
import io.punctual.core.Delivery;
import io.punctual.core.Engine;
import io.punctual.core.EngineListener;
import io.punctual.core.EngineOptions;
import io.punctual.core.Lateness;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.QueueListener;
import io.punctual.core.QueueStats;
import io.punctual.core.WakeCause;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Submitted;
import io.punctual.redis.Resp;
import io.punctual.test.redis.RedisExtension;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Those who count are told of everything once. */
class ListenerIT extends EngineTestBase {

  private final Map<String, Integer> told = new ConcurrentHashMap<>();
  private final Queue<Lateness> late = new ConcurrentLinkedQueue<>();
  private final Queue<Long> ran = new ConcurrentLinkedQueue<>();

  private final EngineListener listener =
      new EngineListener() {
        @Override
        public QueueListener of(QueueName queue) {
          assertThat(queue).isEqualTo(QUEUE);
          return new Told();
        }

        @Override
        public void woken(WakeCause cause) {
          add("woken " + cause, 1);
        }
      };

  private void add(String what, int count) {
    told.merge(what, count, Integer::sum);
  }

  private final class Told implements QueueListener {

    @Override
    public void submitted(Submitted.Kind answer, int jobs) {
      add("submitted " + answer, jobs);
    }

    @Override
    public void ended(Settlement.Op how, int jobs) {
      add("ended " + how, jobs);
    }

    @Override
    public void delivered(Lateness lateness) {
      late.add(lateness);
    }

    @Override
    public void ran(long nanos) {
      ran.add(nanos);
    }

    @Override
    public void died(DeathCause cause, int jobs) {
      add("died " + cause, jobs);
    }

    @Override
    public void lost(int leases) {
      add("lost", leases);
    }
  }

  private Engine engine(TestDispatcher dispatcher) {
    return engine(store(), options("told", listener), dispatcher, null);
  }

  @Test
  void submitsAndEndsAreToldWithTheirOutcome() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    submit(engine, "a", job -> job.delay(Duration.ZERO).retry(RetryPolicy.parse("1s;attempts=2")));
    submit(engine, "a", job -> job.delay(Duration.ZERO).retry(RetryPolicy.parse("1s;attempts=2")));
    submit(engine, "a", job -> job.delay(Duration.ZERO).params("another"));
    next(dispatcher).failed(new ErrorNote("w", "busy"), Duration.ZERO).join();
    next(dispatcher).failed(new ErrorNote("w", "busy"), Duration.ZERO).join();
    submit(engine, "b", Duration.ZERO);
    next(dispatcher).rejected(new ErrorNote("w", "never")).join();
    submit(engine, "c", Duration.ZERO);
    next(dispatcher).release().join();
    next(dispatcher).undeliverable(new ErrorNote("w", "gone"), Duration.ZERO).join();
    next(dispatcher).done().join();

    eventually().until(() -> told.containsKey("ended DONE"));
    assertThat(told)
        .containsEntry("submitted CREATED", 3)
        .containsEntry("submitted ALREADY_THERE", 1)
        .containsEntry("submitted CONFLICT", 1)
        .containsEntry("ended FAILED", 2)
        .containsEntry("ended REJECTED", 1)
        .containsEntry("ended RETURNED", 1)
        .containsEntry("ended UNDELIVERABLE", 1)
        .containsEntry("ended DONE", 1)
        .containsEntry("died ATTEMPTS_USED", 1)
        .containsEntry("died REJECTED", 1)
        .containsKey("woken ASKED")
        .doesNotContainKey("lost");
    // One for each job: not for the second attempt, nor where nobody had it.
    assertThat(late).hasSize(3);
    assertThat(ran).hasSize(4);
  }

  private static Delivery next(TestDispatcher dispatcher) {
    Delivery next = dispatcher.next();
    next.started();
    return next;
  }

  @Test
  void whatWaitsForRoomIsLateForThatReason() {
    TestDispatcher dispatcher = new TestDispatcher();
    dispatcher.capacity.set(0);
    Engine engine = engine(dispatcher);
    submit(engine, "a", Duration.ZERO);
    awaitDueFor(300, engine);
    dispatcher.capacity.set(1);
    engine.capacityChanged(QUEUE);
    next(dispatcher).done().join();

    eventually().until(() -> !late.isEmpty());
    Lateness lateness = Objects.requireNonNull(late.peek());
    assertThat(lateness.room()).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(290));
    assertThat(lateness.scan()).isLessThan(lateness.room());
    assertThat(lateness.retry()).isZero();
  }

  private static void awaitDueFor(long millis, Engine engine) {
    eventually()
        .until(
            () -> {
              QueueStats stats = engine.stats(QUEUE).orElseThrow();
              Long oldest = stats.oldestReady();
              return oldest != null && stats.now() - oldest >= millis;
            });
  }

  @Test
  void thatAQueueWasPausedIsNotHeldAgainstItsScanner() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    submit(engine, "later", Duration.ofHours(1));
    var paused = engine.operations().pause(QUEUE, true);
    submit(engine, "a", Duration.ZERO);
    awaitDueFor(300, engine);
    var resumed = engine.operations().pause(QUEUE, false);
    next(dispatcher).done().join();

    eventually().until(() -> !late.isEmpty());
    Lateness lateness = Objects.requireNonNull(late.peek());
    assertThat(lateness.room()).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(290));
    assertThat(lateness.scan()).isLessThan(lateness.room());
  }

  @Test
  void whatARateHoldsBackIsNotHeldAgainstItsScanner() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    submit(engine, "later", Duration.ofHours(1));
    engine.operations().limit(QUEUE, new Throttle(null, Throttle.Rate.parse("1/3s")));
    submit(engine, "a", Duration.ZERO);
    submit(engine, "b", Duration.ZERO);
    next(dispatcher).done().join();
    next(dispatcher).done().join();

    eventually().until(() -> late.size() == 2);
    assertThat(late)
        .anySatisfy(
            second -> {
              assertThat(second.room()).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(500));
              assertThat(second.scan()).isLessThan(second.room());
            });
  }

  @Test
  void whatWaitedForTheEndOfAnotherJobIsNotHeldAgainstItsScanner() {
    TestDispatcher dispatcher = new TestDispatcher();
    dispatcher.capacity.set(1);
    Engine engine = engine(dispatcher);
    submit(engine, "later", Duration.ofHours(1));
    engine.operations().limit(QUEUE, new Throttle(1, null));
    submit(engine, "a", Duration.ZERO);
    submit(engine, "b", Duration.ZERO);
    Delivery first = next(dispatcher);
    dispatcher.capacity.set(0);
    awaitDueFor(2_000, engine);
    dispatcher.capacity.set(1);
    first.done().join();
    engine.capacityChanged(QUEUE);
    next(dispatcher).done().join();

    eventually().until(() -> late.size() == 2);
    assertThat(late)
        .anySatisfy(
            second -> {
              assertThat(second.room()).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(1_900));
              assertThat(second.scan()).isLessThan(second.room());
            });
  }

  @Test
  void whatStillWaitsAfterAPauseIsNotHeldAgainstItsScanner() {
    TestDispatcher dispatcher = new TestDispatcher();
    dispatcher.capacity.set(1_000);
    Engine engine = engine(dispatcher);
    submit(engine, "later", Duration.ofHours(1));
    var paused = engine.operations().pause(QUEUE, true);
    // More than one claim takes.
    int jobs = options("told", listener).maxClaim() + 50;
    for (int i = 0; i < jobs; i++) {
      submit(engine, "job-" + i, Duration.ZERO);
    }
    awaitDueFor(600, engine);
    var resumed = engine.operations().pause(QUEUE, false);
    for (int i = 0; i < jobs; i++) {
      next(dispatcher).done().join();
    }

    eventually().until(() -> late.size() == jobs);
    assertThat(late).allSatisfy(one -> assertThat(one.scan()).isLessThan(one.room()));
  }

  @Test
  void aJobIsNotLateBeforeTheHoursOfItsQueueBegin() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    long opens = submitBeforeOpening(engine, "a");
    next(dispatcher).done().join();

    eventually().until(() -> !late.isEmpty());
    long now = store().jobs().stats(new Bucket(QUEUE, 0)).now();
    long open = TimeUnit.MILLISECONDS.toNanos(now - opens);
    assertThat(Objects.requireNonNull(late.peek()).nanos()).isLessThanOrEqualTo(open);
  }

  @Test
  void whoPullsGetsItWithItsLateness() {
    TestDispatcher full = new TestDispatcher();
    full.capacity.set(0);
    Engine engine = engine(full);
    submit(engine, "a", Duration.ZERO);
    PullRequest request = new PullRequest(List.of(QUEUE), 1, Duration.ofSeconds(20), null, "w");
    PulledJob job = engine.claims().pull(request).join().get(0);
    assertThat(late).hasSize(1);
    engine.claims().done(job.token()).join();
    eventually().until(() -> told.containsKey("ended DONE"));
  }

  @Test
  void aPullThatWaitsIsRoomForAJobEvenIfTheDispatcherHasNone() {
    TestDispatcher full = new TestDispatcher();
    full.capacity.set(0);
    Engine engine = engine(full);
    submit(engine, "later", Duration.ofHours(1));
    PullRequest request = new PullRequest(List.of(QUEUE), 1, Duration.ofSeconds(20), null, "w");
    for (int i = 0; i < 10; i++) {
      var waiting = engine.claims().pull(request);
      // The pull waits for longer than a claim takes.
      submit(engine, "j" + i, Duration.ofMillis(500));
      var unused = engine.claims().done(waiting.join().get(0).token()).join();
    }
    eventually().until(() -> late.size() == 10);
    assertThat(late).extracting(Lateness::room).containsOnly(0L);
  }

  @Test
  void aLeaseThatIsGoneWhileItIsHeldIsTold() throws IOException {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    submit(engine, "a", Duration.ZERO);
    Delivery delivery = dispatcher.next();
    String leases = prefix + ":{shop:order.close:0}:leases";
    assertThat(Resp.call(RedisExtension.redis().port(), "DEL", leases)).isEqualTo("1");
    eventually().until(() -> Integer.valueOf(1).equals(told.get("lost")));
    delivery.failed(new ErrorNote("w", "busy"), Duration.ZERO).join();
    // Known already.
    assertThat(told).containsEntry("lost", 1).doesNotContainKey("ended FAILED");
  }

  @Test
  void aScannerThatMeetsADefectGoesOnAndHealthShowsIt() {
    AtomicBoolean broken = new AtomicBoolean(true);
    EngineOptions options =
        options("broken")
            .with()
            .safetyCheck(
                queue -> {
                  if (broken.get()) {
                    throw new AssertionError("broken by the test");
                  }
                  return Duration.ofMillis(10);
                })
            .build();
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(store(), options, dispatcher, null);
    submit(engine, "far", Duration.ofHours(1));
    String duty = "The scanner of " + new Bucket(QUEUE, 0);
    eventually().until(() -> engine.scanners().defects().containsKey(duty));
    assertThat(engine.scanners().defects().get(duty)).contains("broken by the test");
    assertThat(engine.scanners().ended()).isEmpty();
    assertThat(engine.scanners().running()).isEqualTo(1);

    broken.set(false);
    submit(engine, "a", Duration.ZERO);
    dispatcher.next().done().join();
    eventually().until(() -> engine.scanners().defects().isEmpty());
  }

  @Test
  void aListenerThatThrowsHurtsNoJobAndHealthShowsIt() {
    EngineOptions options =
        options(
            "broken",
            queue ->
                new QueueListener() {
                  @Override
                  public void submitted(Submitted.Kind answer, int jobs) {
                    throw new NoClassDefFoundError("metrics");
                  }

                  @Override
                  public void ended(Settlement.Op how, int jobs) {
                    throw new NoClassDefFoundError("metrics");
                  }
                });
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(store(), options.with().buckets(2).build(), dispatcher, null);
    for (int i = 0; i < 10; i++) {
      submit(engine, "j" + i, Duration.ZERO);
    }
    for (int i = 0; i < 10; i++) {
      dispatcher.next().done().join();
    }
    assertThat(engine.stats(QUEUE).orElseThrow().counters()).containsEntry("done", 10L);
    assertThat(engine.scanners().defects()).containsKey("The listener of " + QUEUE);
  }
}
