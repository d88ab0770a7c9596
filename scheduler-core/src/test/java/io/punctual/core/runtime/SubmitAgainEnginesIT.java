package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayQueueJob;
import io.punctual.conflict.OnConflict;
import io.punctual.conflict.OnConflict.Keep;
import io.punctual.conflict.OnConflict.WhileRunning;
import io.punctual.core.Delivery;
import io.punctual.core.Engine;
import io.punctual.core.Submit;
import io.punctual.core.job.JobState;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.query.JobView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Debounce and singletons, with the engines' own threads. */
class SubmitAgainEnginesIT extends EngineTestBase {

  private static final OnConflict QUEUE_ONE = OnConflict.whileRunning(WhileRunning.QUEUE_ONE);

  private final BlockingQueue<Delivery> running = new LinkedBlockingQueue<>();

  private static DelayQueueJob job(String params, Duration delay, OnConflict rule) {
    return DelayQueueJob.of(TYPE)
        .taskId("key")
        .params(params)
        .delay(delay)
        .onConflict(rule)
        .build();
  }

  private static Submit submit(Engine engine, DelayQueueJob job) {
    return engine.submit(APP, job, null).join();
  }

  private Delivery next() throws InterruptedException {
    Delivery delivery = running.poll(30, TimeUnit.SECONDS);
    assertThat(delivery).as("a delivery").isNotNull();
    return delivery;
  }

  @Test
  void whatMeetsAJobRunningBeginsAtItsEndWhicheverEngineEndsIt() throws Exception {
    Engine one = engine(store(), options("one"), new TestDispatcher(running::add), null);
    Engine two = engine(store(), options("two"), new TestDispatcher(running::add), null);
    for (int i = 0; i < 5; i++) {
      submit(i % 2 == 0 ? one : two, job("first " + i, Duration.ZERO, QUEUE_ONE));
      Delivery first = next();
      Submit second = submit(i % 2 == 0 ? two : one, job("second", Duration.ZERO, QUEUE_ONE));
      assertThat(second.kind()).isEqualTo(Submitted.Kind.MERGED);
      assertThat(running).isEmpty();

      first.done().join();
      Delivery successor = next();
      assertThat(successor.content().params()).isEqualTo("second");
      successor.done().join();
      assertThat(one.find(QUEUE, "key").map(JobView::state)).contains(JobState.FINISHED);
    }
  }

  @Test
  void aBusyKeyRunsOnceForManyTriggersAndNotLaterThanItsBound() throws Exception {
    Engine engine = engine(store(), options("one"), new TestDispatcher(running::add), null);
    OnConflict debounce = OnConflict.debounce(Duration.ofMillis(600), Keep.LAST);
    List<CompletableFuture<Submit>> answers = new ArrayList<>();
    long begun = System.nanoTime();
    int i = 0;
    while (running.isEmpty() && System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(30)) {
      answers.add(
          engine.submit(APP, job(Integer.toString(i++), Duration.ofMillis(500), debounce), null));
      answers.get(i - 1).join();
    }

    Delivery delivery = next();
    assertThat(answers)
        .extracting(answer -> answer.join().kind())
        .containsOnly(Submitted.Kind.CREATED, Submitted.Kind.MERGED)
        .areExactly(
            1, new org.assertj.core.api.Condition<>(Submitted.Kind.CREATED::equals, "created"));
    delivery.done().join();
  }

  @Test
  void aSuccessorOutlivesTheEngineThatHadTheJob() throws Exception {
    Engine first =
        engine(
            store(),
            options("one").with().lease(Duration.ofSeconds(2)).build(),
            new TestDispatcher(running::add),
            null);
    submit(
        first, job("first", Duration.ZERO, OnConflict.debounce(Duration.ofSeconds(5), Keep.LAST)));
    Delivery lost = next();
    submit(
        first,
        job(
            "second",
            Duration.ofMillis(10),
            OnConflict.debounce(Duration.ofSeconds(5), Keep.LAST)));
    first.close();

    Engine second = engine(store(), options("two"), new TestDispatcher(running::add), null);
    Delivery successor = next();
    assertThat(successor.content().params()).isEqualTo("second");
    successor.done().join();
    assertThat(second.find(QUEUE, "key").map(JobView::state)).contains(JobState.FINISHED);
    assertThat(lost.content().params()).isEqualTo("first");
  }
}
