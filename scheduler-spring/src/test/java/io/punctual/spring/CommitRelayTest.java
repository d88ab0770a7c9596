package io.punctual.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayQueueJob;
import io.punctual.SchedulerUnavailableException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What the relay of committed calls does while schedulers answer, and while they do not. */
@Timeout(60)
@ExtendWith(OutputCaptureExtension.class)
class CommitRelayTest {

  private static final Duration SOON = Duration.ofMillis(10);

  private final RecordingScheduler scheduler = new RecordingScheduler();
  private final Queue<String> failures = new ConcurrentLinkedQueue<>();
  private final CountDownLatch answer = new CountDownLatch(1);
  private CommitRelay relay = relay(Duration.ofMinutes(1), Duration.ofSeconds(20));

  private CommitRelay relay(Duration kept, Duration patience) {
    return relay(kept, patience, Thread::new);
  }

  private CommitRelay relay(Duration kept, Duration patience, ThreadFactory threads) {
    CommitRelay started =
        new CommitRelay(
            scheduler,
            (call, error) -> failures.add(call + ": " + (error == null ? "" : error.getMessage())),
            kept,
            SOON,
            patience,
            threads);
    started.start();
    return started;
  }

  @AfterEach
  void stop() {
    answer.countDown();
    relay.stop();
    assertThat(relay.waiting()).as("nothing is kept behind the stop").isZero();
  }

  private static DeferredCall send(String type, String id) {
    return new DeferredCall.Send(
        DelayQueueJob.of(type).taskId(id).params("p").delay(Duration.ZERO).build());
  }

  private static DeferredCall send(String id) {
    return send("t", id);
  }

  private void commit(DeferredCall... calls) {
    relay.make(List.of(calls));
  }

  private void awaitEmpty() {
    Awaitility.await().until(() -> relay.waiting() == 0);
  }

  private void wait(String call) {
    try {
      if (!answer.await(50, TimeUnit.SECONDS)) {
        throw new IllegalStateException(call + " was never answered");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw away("interrupted");
    }
  }

  private static SchedulerUnavailableException away(String text) {
    return new SchedulerUnavailableException(
        text, Duration.ofSeconds(1), /* mayHaveTakenEffect= */ false, new IllegalStateException());
  }

  @Test
  void theThreadOfATransactionDoesNotWaitForAScheduler() {
    scheduler.before = this::wait;

    for (int i = 0; i < 1000; i++) {
      commit(send("j" + i));
    }

    assertThat(relay.waiting()).isEqualTo(1000);
    assertThat(scheduler.calls).isEmpty();
    answer.countDown();
    awaitEmpty();
    assertThat(scheduler.jobs)
        .extracting(DelayQueueJob::taskId)
        .doesNotHaveDuplicates()
        .hasSize(1000);
    // Those that waited went together.
    assertThat(scheduler.calls).hasSizeLessThan(50);
    assertThat(failures).isEmpty();
  }

  @Test
  void callsOfOneJobKeepTheirOrderAndWhatConcernsAllJobsGoesAlone() {
    scheduler.before = this::wait;
    commit(send("first"));
    Awaitility.await().until(() -> relay.waiting() == 1);
    commit(
        send("a"),
        new DeferredCall.Reschedule("t", "a", null, Duration.ofHours(1)),
        new DeferredCall.Cancel("t", "b"),
        new DeferredCall.CancelByTag("order:1"),
        new DeferredCall.Reschedule("t", "b", Instant.EPOCH, null),
        new DeferredCall.Cancel("t", "a"));
    answer.countDown();
    awaitEmpty();

    assertThat(scheduler.calls.indexOf("cancelByTag order:1"))
        .isEqualTo(4)
        .isGreaterThan(scheduler.calls.indexOf("cancel b"))
        .isLessThan(scheduler.calls.indexOf("reschedule b 1970-01-01T00:00:00Z"));
    assertThat(scheduler.calls.stream().filter(call -> call.contains(" a")))
        .containsExactly("submit a", "reschedule a PT1H", "cancel a");
  }

  @Test
  void manyCallsThatAreNoSendsGoSideBySide() {
    CountDownLatch together = new CountDownLatch(4);
    scheduler.before =
        call -> {
          together.countDown();
          try {
            if (!together.await(30, TimeUnit.SECONDS)) {
              throw new IllegalStateException("they go one by one");
            }
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        };

    relay.make(
        IntStream.range(0, 200)
            .<DeferredCall>mapToObj(i -> new DeferredCall.Cancel("t", "j" + i))
            .toList());
    awaitEmpty();

    assertThat(scheduler.calls).hasSize(200);
    assertThat(failures).isEmpty();
  }

  @Test
  void aCallThatNoSchedulerTakesIsMadeAgainAndInItsOrder() {
    int[] away = {3};
    scheduler.before =
        call -> {
          if (away[0]-- > 0) {
            throw away("nobody is there");
          }
        };

    commit(send("a"));
    commit(new DeferredCall.Cancel("t", "a"));
    awaitEmpty();

    assertThat(scheduler.calls).containsExactly("submit a", "cancel a");
    assertThat(failures).isEmpty();
  }

  @Test
  void aTypeThatIsNotAnsweredHoldsNoOtherOneUp() {
    scheduler.before =
        call -> {
          if (call.contains("damaged")) {
            throw away("its queue is damaged");
          }
        };
    for (int i = 0; i < 300; i++) {
      commit(send("broken", "damaged" + i), new DeferredCall.Cancel("well", "w" + i));
    }

    Awaitility.await()
        .until(
            () ->
                scheduler.calls.stream().filter(call -> call.startsWith("cancel")).count() == 300);
    assertThat(relay.waiting()).isEqualTo(300);
    scheduler.before = call -> {};
    awaitEmpty();
    assertThat(failures).isEmpty();
  }

  @Test
  void aCallThatNoSchedulerTakesInItsTimeIsToldOf(CapturedOutput log) {
    relay.stop();
    relay = relay(Duration.ofMillis(200), Duration.ofSeconds(20));
    scheduler.before =
        call -> {
          throw away("Nothing was sent: no scheduler is known.");
        };

    commit(send("a"), new DeferredCall.Cancel("t", "b"), new DeferredCall.CancelByTag("order:1"));
    Awaitility.await().until(() -> failures.size() == 3);

    assertThat(failures)
        .anyMatch(told -> told.startsWith("send: "))
        .anyMatch(told -> told.startsWith("cancel: "))
        .anyMatch(told -> told.startsWith("cancel-by-tag: "));
    assertThat(log.getAll())
        .contains("The transaction committed, but the send of t/a that was to follow FAILED: ")
        .contains("The job does not exist: send it again.");
  }

  @Test
  void aCallThatIsRefusedIsToldOfAtOnceAndHoldsNothingUp() {
    commit(send(RecordingScheduler.REFUSED, "bad"), send("good"));
    commit(new DeferredCall.Cancel(RecordingScheduler.REFUSED, "bad"));
    awaitEmpty();

    assertThat(failures).containsExactly("send: refused, as asked");
    assertThat(scheduler.calls).contains("cancel bad");
    assertThat(scheduler.jobs).extracting(DelayQueueJob::taskId).containsExactly("good");
  }

  @Test
  void soManyAreKeptAndTheRestIsToldOf() {
    scheduler.before = this::wait;
    for (int i = 0; i < 101; i++) {
      int first = i * 100;
      relay.make(IntStream.range(first, first + 100).mapToObj(id -> send("j" + id)).toList());
    }

    assertThat(relay.waiting()).isEqualTo(10_000);
    assertThat(failures)
        .hasSize(100)
        .allSatisfy(
            told -> assertThat(told).contains("10,000 calls wait", "punctual.outbox.enabled"));
    answer.countDown();
    awaitEmpty();
    assertThat(scheduler.jobs).hasSize(10_000);
  }

  @Test
  void largeJobsAreKeptWithinABoundTooAndGoWhenThereIsRoom() {
    scheduler.before = this::wait;
    DeferredCall large =
        new DeferredCall.Send(
            DelayQueueJob.of("t")
                .taskId("large")
                .params("x".repeat(256 * 1024))
                .delay(Duration.ZERO)
                .build());
    for (int i = 0; i < 65; i++) {
      commit(large);
    }

    assertThat(relay.waiting()).isEqualTo(64);
    assertThat(failures).hasSize(1);
    answer.countDown();
    awaitEmpty();
    commit(large);
    awaitEmpty();
    assertThat(failures).hasSize(1);
  }

  @Test
  void callsForWhichNoThreadCouldBeStartedAreMadeWithoutAnotherCommit() {
    relay.stop();
    AtomicInteger errors = new AtomicInteger(2);
    relay =
        relay(
            Duration.ofMinutes(1),
            Duration.ofSeconds(20),
            task -> {
              if (errors.getAndDecrement() > 0) {
                throw new OutOfMemoryError("of the test");
              }
              return new Thread(task);
            });

    commit(send("a"));
    awaitEmpty();

    assertThat(errors).hasNegativeValue();
    assertThat(scheduler.calls).containsExactly("submit a");
    assertThat(failures).isEmpty();
  }

  @Test
  void aStopMakesWhatWaitsOnceMoreAndTellsOfTheRest() {
    scheduler.before =
        call -> {
          if (call.contains("damaged")) {
            throw away("its queue is damaged");
          }
        };
    commit(send("broken", "damaged"));
    Awaitility.await().until(() -> relay.waiting() == 1);
    commit(send("a"));

    relay.stop();

    assertThat(scheduler.calls).contains("submit a");
    assertThat(failures).containsExactly("send: its queue is damaged");
    // What commits while the application ends is made by its own thread.
    commit(send("late"));
    assertThat(scheduler.calls).contains("submit late");
    // Contexts may be started again.
    relay.start();
    commit(send("again"));
    awaitEmpty();
    assertThat(scheduler.calls).contains("submit again");
  }

  @Test
  void aStopWaitsForNoSchedulerForEver() {
    relay.stop();
    relay = relay(Duration.ofMinutes(1), Duration.ofMillis(50));
    scheduler.before = this::wait;
    commit(send("a"));
    commit(new DeferredCall.Cancel("t", "a"));

    relay.stop();

    Awaitility.await().until(() -> failures.size() == 2);
    assertThat(scheduler.calls).isEmpty();
  }
}
