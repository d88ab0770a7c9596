package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayQueueJob;
import io.punctual.RetryPolicy;
import io.punctual.core.Delivery;
import io.punctual.core.Dispatcher;
import io.punctual.core.Engine;
import io.punctual.core.QueueStats;
import io.punctual.core.RepeatCause;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.scan.ScanSignals;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.Requeued;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Store;
import io.punctual.core.store.Submission;
import io.punctual.core.store.query.JobView;
import io.punctual.core.work.FailingTimer;
import io.punctual.core.work.Threads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** How attempts end, and what comes of it. */
class AttemptsIT extends EngineTestBase {

  @Test
  void aFailingJobWalksItsLadderToTheDeadLetters() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    submit(
        engine, "a", job -> job.delay(Duration.ZERO).retry(RetryPolicy.parse("0ms,100ms,300ms")));
    long due = 0;
    for (int attempt = 1; attempt <= 4; attempt++) {
      Delivery delivery = dispatcher.next();
      assertThat(delivery.attempt()).isEqualTo(attempt);
      assertThat(delivery.tries().failed()).isEqualTo(attempt - 1);
      if (attempt == 1) {
        due = delivery.dueTime();
      }
      assertThat(delivery.dueTime()).isEqualTo(due);
      delivery.failed(new ErrorNote("10.0.0.1:8081", "out of stock " + attempt), null).join();
    }
    JobView dead = engine.find(QUEUE, "a").orElseThrow();
    assertThat(dead.state()).isEqualTo(JobState.DEAD);
    assertThat(dead.tries().failed()).isEqualTo(4);
    assertThat(dead.maxAttempts()).isEqualTo(4);
    assertThat(dead.failures()).extracting(JobView.Failure::attempt).containsExactly(4, 3, 2, 1);
    JobView.Failure last = dead.failures().get(0);
    assertThat(last.startedAt()).isPositive().isLessThanOrEqualTo(dead.at());
    assertThat(last)
        .isEqualTo(
            new JobView.Failure(
                dead.at(),
                "failed",
                "dead-attempts",
                4,
                last.startedAt(),
                new ErrorNote("10.0.0.1:8081", "out of stock 4")));
    // Between first failure and death lie at least the steps of the ladder.
    assertThat(dead.at() - due).isGreaterThanOrEqualTo(400);

    assertThat(engine.operations().requeue(QUEUE, "a", null).kind())
        .isEqualTo(Requeued.Kind.REQUEUED);
    assertThat(dispatcher.next().tries().counted()).isZero();
    assertThat(engine.operations().requeue(QUEUE, "a", null).kind())
        .isEqualTo(Requeued.Kind.REFUSED);
  }

  @Test
  void jobsAreSentThoughTheirHeartbeatCouldNotBeStartedAndKeptOnceItCan() {
    FailingTimer timer = new FailingTimer();
    TestDispatcher dispatcher = new TestDispatcher();
    Store store = store();
    Engine engine =
        started(
            new ScanningEngine(
                store,
                options("engine"),
                dispatcher,
                null,
                () -> Threads.inBackground(timer),
                Random::new,
                null),
            dispatcher);
    submit(engine, "a", Duration.ZERO);
    Delivery first = dispatcher.next();
    submit(engine, "b", Duration.ZERO);
    Delivery second = dispatcher.next();
    Bucket bucket = new Bucket(QUEUE, 0);
    long lease = store.jobs().find(bucket, "a").orElseThrow().at();

    eventually().until(() -> store.jobs().find(bucket, "a").orElseThrow().at() > lease);
    assertThat(timer.asked()).isGreaterThan(1);
    first.done().join();
    second.done().join();
  }

  @Test
  void theWorkersWishWinsOverTheLadder() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    submit(engine, "a", job -> job.delay(Duration.ZERO).retry(RetryPolicy.parse("1h")));
    dispatcher.next().failed(new ErrorNote("", "busy"), Duration.ofMillis(50)).join();
    assertThat(dispatcher.next().attempt()).isEqualTo(2);
  }

  @Test
  void aDeferredJobOutlivesItsEngineAndIsEndedByItsToken() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine first = engine(dispatcher);
    submit(first, "a", Duration.ZERO);
    Delivery delivery = dispatcher.next();
    assertThat(delivery.hold(Duration.ofMinutes(10))).isTrue();
    delivery.deferred(Duration.ofMinutes(10)).join();
    first.close();

    Engine second = engine(TestDispatcher.done());
    submit(second, "b", Duration.ofSeconds(2));
    // Its lease without that would be over by now, and the job taken up by this engine.
    eventually().until(() -> second.find(QUEUE, "b").orElseThrow().state() == JobState.FINISHED);
    JobView waiting = second.find(QUEUE, "a").orElseThrow();
    assertThat(waiting.state()).isEqualTo(JobState.RESERVED);
    assertThat(second.claims().done(delivery.token()).join().kind()).isEqualTo(Settled.Kind.DONE);
    assertThat(second.find(QUEUE, "a").orElseThrow().state()).isEqualTo(JobState.FINISHED);
  }

  @Test
  void aDeferredJobThatNobodyFinishesInTimeComesBackAndIsDoneAllTheSameWhenSomebodyDoes() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    submit(engine, "a", Duration.ZERO);
    Delivery delivery = dispatcher.next();
    delivery.deferred(Duration.ofMillis(1_200)).join();

    Delivery again = dispatcher.next();
    assertThat(again.attempt()).isEqualTo(2);
    assertThat(again.tries().unknown()).isEqualTo(1);
    assertThat(engine.claims().failed(delivery.token(), "here", "too late", null).join().kind())
        .isEqualTo(Settled.Kind.LEASE_LOST);
    assertThat(engine.claims().done(delivery.token()).join().kind()).isEqualTo(Settled.Kind.DONE);
    eventually().until(() -> !again.extend(Duration.ofMinutes(1)));
    again.failed(new ErrorNote("here", "nobody asked"), null).join();
    assertThat(engine.find(QUEUE, "a").orElseThrow().state()).isEqualTo(JobState.FINISHED);
  }

  @Test
  void aJobThatWasEndedBeforeItWasDeferredStaysEnded() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    submit(engine, "a", Duration.ZERO);
    Delivery delivery = dispatcher.next();
    assertThat(delivery.hold(Duration.ofMinutes(10))).isTrue();

    engine.claims().done(delivery.token()).join();
    delivery.deferred(Duration.ofMinutes(10)).join();

    assertThat(engine.find(QUEUE, "a").orElseThrow().state()).isEqualTo(JobState.FINISHED);
    engine.stop(Duration.ofSeconds(20));
  }

  @Test
  void whoeverRunsItHearsThatTheLeaseIsLost() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    submit(engine, "a", Duration.ZERO);
    Delivery delivery = dispatcher.next();
    AtomicBoolean lost = new AtomicBoolean();
    delivery.onLost(() -> lost.set(true));
    assertThat(delivery.extend(Duration.ofMinutes(1))).isTrue();
    assertThat(lost).isFalse();

    engine.claims().rejected(delivery.token(), "an operator", "no such order").join();

    // By the heartbeat, without being asked.
    eventually().until(lost::get);
    assertThat(delivery.extend(Duration.ofMinutes(1))).isFalse();
    delivery.done().join();
  }

  @Test
  void undeliverableCostsNoAttempt() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    submit(engine, "a", job -> job.delay(Duration.ZERO).retry(RetryPolicy.NEVER));
    Delivery first = dispatcher.next();
    engine.operations().pause(QUEUE, true);
    first.undeliverable(new ErrorNote("10.0.0.1:8081", "connection refused"), null).join();
    JobView view = engine.find(QUEUE, "a").orElseThrow();
    assertThat(view.state()).isEqualTo(JobState.DELAYED);
    assertThat(lastError(view).kind()).isEqualTo("undeliverable");
    engine.operations().pause(QUEUE, false);
    Delivery second = dispatcher.next();
    assertThat(second.attempt()).isEqualTo(1);
    assertThat(second.tries().undeliverable()).isEqualTo(1);
    second.done().join();
  }

  @Test
  void aReleasedJobGoesOutAgainAsIfNothingHadHappened() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    submit(engine, "a", Duration.ZERO);
    Delivery first = dispatcher.next();
    first.release().join();
    Delivery second = dispatcher.next();
    assertThat(second.attempt()).isEqualTo(1);
    assertThat(second.dueTime()).isEqualTo(first.dueTime());
  }

  @Test
  void aRejectedJobIsDeadAtOnceAndCanBePurged() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    submit(engine, "a", Duration.ZERO);
    dispatcher.next().rejected(new ErrorNote("here", "no such order")).join();
    JobView dead = engine.find(QUEUE, "a").orElseThrow();
    assertThat(dead.state()).isEqualTo(JobState.DEAD);
    assertThat(lastError(dead).kind()).isEqualTo("rejected");
    assertThat(engine.operations().purge(QUEUE, JobState.DEAD, "a")).isTrue();
    assertThat(engine.operations().purge(QUEUE, JobState.DEAD, "a")).isFalse();
    assertThat(engine.find(QUEUE, "a")).isEmpty();
  }

  @Test
  void theFirstEndingCountsButALateDoneStillFinishesTheJob() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    submit(engine, "a", Duration.ZERO);
    Delivery delivery = dispatcher.next();
    engine.operations().pause(QUEUE, true);
    delivery.unknown(new ErrorNote("here", "timed out"), true, RepeatCause.TIME_OVER).join();
    delivery.rejected(new ErrorNote("here", "too late")).join();
    assertThat(engine.find(QUEUE, "a").orElseThrow().state()).isEqualTo(JobState.DELAYED);
    delivery.done().join();
    assertThat(engine.find(QUEUE, "a").orElseThrow().state()).isEqualTo(JobState.FINISHED);
  }

  @Test
  void suspectsTravelAloneAndThePoisonDiesAlone() {
    Queue<List<String>> batches = new ConcurrentLinkedQueue<>();
    AtomicBoolean open = new AtomicBoolean();
    // A worker that the poison kills, with all that is in the same request.
    Dispatcher worker =
        new Dispatcher() {
          @Override
          public int capacity(QueueName queue) {
            return open.get() ? 100 : 0;
          }

          @Override
          public void dispatch(QueueName queue, List<Delivery> deliveries) {
            List<Delivery> together = new ArrayList<>();
            for (Delivery delivery : deliveries) {
              if (delivery.travelsAlone()) {
                send(List.of(delivery));
              } else {
                together.add(delivery);
              }
            }
            if (!together.isEmpty()) {
              send(together);
            }
          }

          private void send(List<Delivery> batch) {
            batches.add(batch.stream().map(Delivery::taskId).toList());
            boolean dies = batch.stream().anyMatch(d -> d.taskId().equals("poison"));
            for (Delivery delivery : batch) {
              var unused =
                  dies
                      ? delivery.unknown(
                          new ErrorNote("w", "the stream broke"),
                          batch.size() == 1,
                          RepeatCause.ANSWER_LOST)
                      : delivery.done();
            }
          }
        };
    Engine engine = engine(worker);
    for (String id : List.of("x", "poison", "y")) {
      submit(engine, id, job -> job.delay(Duration.ZERO).retry(RetryPolicy.parse("1s;attempts=2")));
    }
    open.set(true);
    engine.capacityChanged(QUEUE);

    eventually().until(() -> engine.find(QUEUE, "poison").orElseThrow().state() == JobState.DEAD);
    assertThat(batches).contains(List.of("x"), List.of("y"), List.of("poison"));
    assertThat(batches.peek()).hasSize(3);
    for (String innocent : List.of("x", "y")) {
      assertThat(engine.find(QUEUE, innocent).orElseThrow().state()).isEqualTo(JobState.FINISHED);
    }
    JobView poison = engine.find(QUEUE, "poison").orElseThrow();
    assertThat(poison.tries().unknown()).isEqualTo(3);
    assertThat(poison.tries().counted()).isEqualTo(2);
  }

  @Test
  void aJobWhoseContentIsCorruptIsRejectedAndTheOthersGoOn() {
    Store store = store();
    store.queues().register(QUEUE, 1);
    store
        .jobs()
        .submit(
            new Bucket(QUEUE, 0),
            List.of(
                new Submission(
                    "bad", "incarnation0", Due.in(0), 3, 0, List.of(), new byte[] {9, 9}, false)));
    TestDispatcher dispatcher = TestDispatcher.done();
    Engine engine = engine(dispatcher);
    submit(engine, "good", Duration.ZERO);
    eventually().until(() -> dispatcher.seen.contains("good"));
    eventually().until(() -> engine.find(QUEUE, "bad").orElseThrow().state() == JobState.DEAD);
    JobView bad = engine.find(QUEUE, "bad").orElseThrow();
    assertThat(lastError(bad).message()).contains("corrupt content");
    JobContent content = bad.content();
    assertThat(content).isNull();
  }

  @Test
  void aDispatcherThatThrowsLosesNothing() {
    AtomicBoolean broken = new AtomicBoolean(true);
    TestDispatcher inner = TestDispatcher.done();
    Dispatcher dispatcher =
        new Dispatcher() {
          @Override
          public int capacity(QueueName queue) {
            return 10;
          }

          @Override
          public void dispatch(QueueName queue, List<Delivery> deliveries) {
            if (broken.getAndSet(false)) {
              throw new IllegalStateException("broken");
            }
            inner.dispatch(queue, deliveries);
          }
        };
    Engine engine = engine(dispatcher);
    submit(engine, "a", Duration.ZERO);
    eventually().until(() -> inner.seen.contains("a"));
    eventually().until(() -> engine.find(QUEUE, "a").orElseThrow().state() == JobState.FINISHED);
  }

  @Test
  void withoutRoomJobsWaitAndThenTheOldestGoFirst() {
    Queue<String> parked = new ConcurrentLinkedQueue<>();
    TestDispatcher dispatcher = new TestDispatcher();
    dispatcher.capacity.set(0);
    Engine engine =
        engine(
            store(),
            options("engine"),
            dispatcher,
            new ScanSignals() {
              @Override
              public void parked(Bucket bucket) {
                parked.add(bucket.toString());
              }
            });
    // Submitted in another order than they are due.
    for (int i : new int[] {3, 1, 4, 2, 0}) {
      long due = 1_700_000_000_000L + i;
      engine
          .submit(APP, DelayQueueJob.of(TYPE).taskId("job-" + i).delayTime(due).build(), false)
          .join();
    }
    eventually().until(() -> !parked.isEmpty());
    QueueStats stats = engine.stats(QUEUE).orElseThrow();
    assertThat(stats.parked()).isTrue();
    assertThat(stats.ready()).isEqualTo(5);
    assertThat(stats.oldestReady()).isEqualTo(1_700_000_000_000L);
    assertThat(dispatcher.seen).isEmpty();

    for (int i = 0; i < 5; i++) {
      dispatcher.capacity.set(1);
      engine.capacityChanged(QUEUE);
      Delivery delivery = dispatcher.next();
      dispatcher.capacity.set(0);
      delivery.done().join();
    }
    assertThat(dispatcher.seen.stream().distinct())
        .containsExactly("job-0", "job-1", "job-2", "job-3", "job-4");
  }

  @Test
  void whoeverRunsItHearsFromAnotherEngineWithinASecondThatItIsToStop() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    TestDispatcher busy = new TestDispatcher();
    busy.capacity.set(0);
    Engine other = engine(busy);
    submit(engine, "a", job -> job.delay(Duration.ZERO).retry(RetryPolicy.NEVER));
    Delivery delivery = dispatcher.next();
    AtomicLong told = new AtomicLong();
    delivery.onCancelling(() -> told.compareAndSet(0, System.nanoTime()));
    // That the other one knows of the queue.
    assertThat(other.find(QUEUE, "a").orElseThrow().cancelling()).isFalse();

    long asked = System.nanoTime();
    assertThat(other.operations().cancel(QUEUE, "a", null, /* interrupt= */ true).kind())
        .isEqualTo(Cancelled.Kind.CANCELLING);
    eventually().until(() -> told.get() != 0);
    assertThat(Duration.ofNanos(told.get() - asked)).isLessThan(Duration.ofSeconds(3));
    AtomicBoolean toldLater = new AtomicBoolean();
    delivery.onCancelling(() -> toldLater.set(true));
    assertThat(toldLater).isTrue();

    delivery.failed(new ErrorNote("here", "it stopped"), null).join();
    assertThat(engine.find(QUEUE, "a").orElseThrow().state()).isEqualTo(JobState.CANCELLED);
    QueueStats stats = engine.stats(QUEUE).orElseThrow();
    assertThat(stats.dead()).isZero();
    assertThat(stats.counters()).containsEntry("cancelled", 1L).doesNotContainKey("failed");
  }

  @Test
  void aJobIsCancelledWhoseEngineDiedWhileItWasToldToStop() {
    TestDispatcher dispatcher = new TestDispatcher();
    Engine engine = engine(dispatcher);
    submit(engine, "a", Duration.ZERO);
    assertThat(dispatcher.next().taskId()).isEqualTo("a");
    assertThat(engine.operations().cancel(QUEUE, "a", null, /* interrupt= */ true).kind())
        .isEqualTo(Cancelled.Kind.CANCELLING);
    engine.close();

    TestDispatcher next = new TestDispatcher();
    Engine second = engine(next);
    eventually().until(() -> second.find(QUEUE, "a").orElseThrow().state() == JobState.CANCELLED);
    assertThat(next.seen).isEmpty();
  }
}
