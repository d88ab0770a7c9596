package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.Delivery;
import io.punctual.core.Engine;
import io.punctual.core.EngineOptions;
import io.punctual.core.WakeCause;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobState;
import io.punctual.core.job.Throttle;
import io.punctual.core.scan.ScanSignals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/**
 * A scanner that was refused is woken as soon as it may claim again. Nothing else wakes it here:
 * checks are a minute apart.
 */
class WakeIT extends EngineTestBase {

  /** What the scanners did, in order. */
  private static final class Steps implements ScanSignals {

    private final LinkedBlockingQueue<String> steps = new LinkedBlockingQueue<>();
    private final ConcurrentLinkedQueue<String> all = new ConcurrentLinkedQueue<>();

    private void add(String step) {
      all.add(step);
      steps.add(step);
    }

    @Override
    public void claimed(Bucket bucket, int jobs) {
      add(bucket.index() + " claimed " + jobs);
    }

    @Override
    public void parked(Bucket bucket) {
      add(bucket.index() + " parked");
    }

    @Override
    public void asleep(Bucket bucket, long nanos, WakeCause until) {
      add(bucket.index() + " asleep until " + until);
    }

    void await(Predicate<String> wanted) throws InterruptedException {
      List<String> seen = new ArrayList<>();
      String step = "";
      while (!wanted.test(step)) {
        step = steps.poll(20, TimeUnit.SECONDS);
        assertThat(step).as("within 20 s, after " + seen).isNotNull();
        seen.add(step);
      }
    }

    void await(String wanted) throws InterruptedException {
      await(wanted::equals);
    }

    void forget() {
      steps.clear();
      all.clear();
    }
  }

  private final Steps steps = new Steps();
  private final GatedStore gated = new GatedStore(store());

  private Engine engine(TestDispatcher dispatcher, int buckets) {
    return engine(gated, dispatcher, buckets);
  }

  private Engine engine(GatedStore of, TestDispatcher dispatcher, int buckets) {
    EngineOptions options =
        rareChecks("engine").with().buckets(buckets).lease(Duration.ofMinutes(5)).build();
    return engine(of.store(), options, dispatcher, steps);
  }

  /** An id that is in that bucket. */
  private static String in(int bucket, int buckets) {
    for (int i = 0; ; i++) {
      String id = "j" + i;
      if (Bucket.of(QUEUE, id, buckets).index() == bucket) {
        return id;
      }
    }
  }

  private void awaitAsleep(int buckets) throws InterruptedException {
    for (int bucket = 0; bucket < buckets; bucket++) {
      String prefix = bucket + " asleep";
      if (steps.all.stream().noneMatch(step -> step.startsWith(prefix))) {
        steps.await(step -> step.startsWith(prefix));
      }
    }
  }

  @Test
  void aBucketThatWasRefusedGoesOnWhenASiblingGivesItsCapacityBack() throws Exception {
    TestDispatcher dispatcher = new TestDispatcher();
    dispatcher.capacity.set(50);
    Engine engine = engine(dispatcher, 2);
    submit(engine, "far-" + in(0, 2), Duration.ofHours(1));
    awaitAsleep(2);

    // The first bucket takes all capacity, and its claim takes its time.
    GatedStore.Gate gate = gated.before("claim", 0);
    submit(engine, in(0, 2), Duration.ZERO);
    gate.awaitReached();
    steps.forget();
    submit(engine, in(1, 2), Duration.ZERO);
    steps.await("1 asleep until SAFETY");
    gate.open();

    assertThat(List.of(dispatcher.next().taskId(), dispatcher.next().taskId()))
        .containsExactlyInAnyOrder(in(0, 2), in(1, 2));
  }

  @Test
  void aJobThatComesBackElsewhereIsHeardOf() throws Exception {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine here = engine(dispatcher, 2);
    TestDispatcher busy = new TestDispatcher();
    EngineOptions options =
        rareChecks("elsewhere").with().buckets(2).lease(Duration.ofMinutes(5)).build();
    Engine elsewhere = engine(store(), options, busy, null);
    for (int bucket = 0; bucket < 2; bucket++) {
      submit(here, "far-" + in(bucket, 2), Duration.ofHours(1));
    }
    awaitAsleep(2);
    for (int bucket = 0; bucket < 2; bucket++) {
      dispatcher.capacity.set(0);
      submit(elsewhere, in(bucket, 2), Duration.ZERO);
      Delivery failing = busy.next();
      // From here on the other engine has no capacity, and this one has.
      busy.capacity.set(0);
      dispatcher.capacity.set(200);
      steps.forget();
      here.capacityChanged(QUEUE);
      String asleep = bucket + " asleep";
      steps.await(step -> step.startsWith(asleep));
      failing.failed(new ErrorNote("w", "no"), Duration.ZERO).get(20, TimeUnit.SECONDS);
      Delivery retried = dispatcher.next();
      assertThat(retried.taskId()).isEqualTo(in(bucket, 2));
      retried.done().get(20, TimeUnit.SECONDS);
      busy.capacity.set(200);
    }
  }

  @Test
  void aPlaceThatBecomesFreeWhileTheLastOneIsTakenIsNotMissed() throws Exception {
    TestDispatcher dispatcher = new TestDispatcher();
    // Deaf: a late message about an earlier job would be another reason to claim.
    GatedStore deaf = new GatedStore(deafStore());
    Engine engine = engine(deaf, dispatcher, 1);
    submit(engine, "far", Duration.ofHours(1));
    awaitAsleep(1);
    engine.operations().limit(QUEUE, new Throttle(2, null));
    submit(engine, "a", Duration.ZERO);
    Delivery first = dispatcher.next();

    // Two are due at once, and there is a place for one. Behind the script that takes it, and
    // before the engine has its answer, the other place becomes free.
    long due = System.currentTimeMillis() + 4_000;
    submit(engine, "b", job -> job.delayTime(due));
    submit(engine, "c", job -> job.delayTime(due));
    GatedStore.Gate gate = deaf.behind("claim", 0);
    gate.awaitReached();
    assertThat(engine.find(QUEUE, "b").orElseThrow().state()).isEqualTo(JobState.RESERVED);
    assertThat(engine.find(QUEUE, "c").orElseThrow().state()).isEqualTo(JobState.DELAYED);
    first.done().get(20, TimeUnit.SECONDS);
    steps.forget();
    gate.open();

    assertThat(dispatcher.next().taskId()).isEqualTo("b");
    assertThat(dispatcher.next().taskId()).isEqualTo("c");
    // It did not wait for the look that is due in a second, in case a job ends elsewhere.
    assertThat(steps.all.stream().limit(2)).containsExactly("0 claimed 1", "0 claimed 1");
  }
}
