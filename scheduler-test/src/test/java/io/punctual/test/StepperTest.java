package io.punctual.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.DelayQueueJob;
import io.punctual.RetryPolicy;
import io.punctual.core.Delivery;
import io.punctual.core.EngineOptions;
import io.punctual.core.job.Pause;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.core.runtime.Stepper;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.core.wake.Capacity;
import io.punctual.schedule.TimeRules;
import io.punctual.schedule.Windows;
import io.punctual.test.store.InMemoryCalendarStore;
import io.punctual.test.store.InMemoryJobStore;
import io.punctual.test.store.InMemoryScheduleStore;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What operators do to a queue counts for an engine that is stepped, too. */
class StepperTest {

  private static final String APPLICATION = "shop";
  private static final QueueName QUEUE = new QueueName(APPLICATION, "order.close");
  private static final long START = 1_000_000;
  private static final Duration LEASE = EngineOptions.defaults("test").lease();

  private final AtomicLong millis = new AtomicLong(START);
  private final Stepper stepper =
      new Stepper(
          new InMemoryJobStore(millis::get, StoreOptions.DEFAULTS.tombstones()),
          new MemoryQueues(millis::get),
          new InMemoryScheduleStore(millis::get),
          new InMemoryCalendarStore(),
          EngineOptions.defaults("test"),
          millis::get,
          new Random(1));

  @BeforeEach
  void threeJobsAreDue() {
    for (int i = 1; i <= 3; i++) {
      submit("" + i, "");
    }
  }

  private void submit(String id, String params) {
    stepper
        .engine()
        .submit(
            APPLICATION,
            DelayQueueJob.of(QUEUE.taskType())
                .taskId(id)
                .params(params)
                .delay(Duration.ZERO)
                .retry(new RetryPolicy.Ladder(List.of(Duration.ZERO), Limits.MAX_ATTEMPTS))
                .build(),
            false)
        .join();
  }

  private OptionalLong next() {
    return stepper.next(queue -> true);
  }

  private Optional<Delivery> step() {
    return stepper.step(queue -> true);
  }

  /** Steps until nothing is left; answers when each job went out, in ms since the start. */
  private List<Long> finishAll() {
    List<Long> times = new ArrayList<>();
    while (true) {
      Optional<Delivery> delivery = step();
      if (delivery.isPresent()) {
        times.add(millis.get() - START);
        delivery.get().done().join();
        continue;
      }
      OptionalLong next = next();
      if (next.isEmpty()) {
        return times;
      }
      assertThat(next.getAsLong()).isGreaterThan(millis.get());
      millis.set(next.getAsLong());
    }
  }

  @Test
  void aRateSpreadsWhatIsDueAtOnce() {
    stepper
        .engine()
        .operations()
        .limit(QUEUE, new Throttle(null, new Throttle.Rate(1, Duration.ofMinutes(1))));

    assertThat(finishAll()).containsExactly(0L, 60_000L, 120_000L);
  }

  @Test
  void aPausedQueueHasNothingToDoUntilItGoesOn() {
    stepper.engine().operations().pause(QUEUE, true);
    assertThat(step()).isEmpty();
    assertThat(next()).isEmpty();

    stepper.engine().operations().pause(QUEUE, false);
    assertThat(finishAll()).containsExactly(0L, 0L, 0L);
  }

  @Test
  void aPauseWithAnEndEndsByItself() {
    Pause.Terms minute = new Pause.Terms("ada", "deploy", Duration.ofMinutes(1));
    stepper.engine().operations().pause(QUEUE, true);
    assertThat(step()).isEmpty();
    stepper.engine().operations().pause(QUEUE, minute);

    assertThat(finishAll()).containsExactly(60_000L, 60_000L, 60_000L);
  }

  @Test
  void aQueueWaitsForTheEndOfItsPauseAndItsApplications() {
    stepper
        .engine()
        .operations()
        .pauseApplication(APPLICATION, new Pause.Terms("ada", "", Duration.ofMinutes(2)));
    stepper.engine().operations().pause(QUEUE, new Pause.Terms("bea", "", Duration.ofMinutes(1)));

    assertThat(finishAll()).containsExactly(120_000L, 120_000L, 120_000L);
  }

  @Test
  void aFullQueueGoesOnWhenAJobHasEnded() {
    stepper.engine().operations().limit(QUEUE, new Throttle(1, null));

    Delivery first = step().orElseThrow();
    assertThat(step()).isEmpty();

    first.done().join();
    assertThat(step()).map(Delivery::taskId).hasValue("2");
  }

  private void hours(@Nullable String window, @Nullable String calendar) {
    Windows windows = window == null ? null : Windows.parse(window);
    stepper
        .engine()
        .operations()
        .hours(QUEUE, new TimeRules(null, null, null, windows, null, calendar));
  }

  // The clock begins at 00:16:40 of a Thursday.
  @Test
  void jobsWaitForTheHoursOfTheirQueue() {
    hours("00:30-00:31", null);

    assertThat(step()).isEmpty();
    assertThat(finishAll()).containsExactly(800_000L, 800_000L, 800_000L);
  }

  @Test
  void whatHasNotGoneOutByTheEndOfTheHoursWaitsForTheNext() {
    hours("00:10-00:17; Sat 12:00-13:00", null);
    stepper
        .engine()
        .operations()
        .limit(QUEUE, new Throttle(null, new Throttle.Rate(1, Duration.ofSeconds(15))));

    assertThat(finishAll())
        .containsExactly(0L, 15_000L, Duration.ofDays(1).minusSeconds(400).toMillis());
  }

  @Test
  void hoursMayBeTakenOff() {
    hours("Fri 09:00-10:00", null);
    assertThat(step()).isEmpty();
    assertThat(stepper.engine().stats(QUEUE).orElseThrow().closedUntil())
        .isEqualTo(Duration.ofHours(33).toMillis());

    stepper.engine().operations().hours(QUEUE, TimeRules.NONE);
    assertThat(stepper.engine().stats(QUEUE).orElseThrow().closedUntil()).isNull();
    assertThat(finishAll()).containsExactly(0L, 0L, 0L);
  }

  @Test
  void aQueueIsClosedOnTheDatesOfItsCalendarAlsoIfThatChanges() {
    LocalDate first = LocalDate.parse("1970-01-01");
    stepper.engine().calendars().put("closed", List.of(first, first.plusDays(1)));
    hours(null, "closed");
    assertThat(step()).isEmpty();
    millis.addAndGet(Duration.ofDays(1).toMillis());
    assertThat(step()).isEmpty();

    stepper.engine().calendars().put("closed", List.of(first));
    assertThat(finishAll().get(0)).isBetween(86_400_000L, 86_460_000L);
  }

  @Test
  void aPauseHoldsInTheHoursAndTheHoursAfterAPause() {
    hours("00:30-00:31", null);
    stepper.engine().operations().pause(QUEUE, true);
    assertThat(step()).isEmpty();
    assertThat(next()).isEmpty();

    stepper.engine().operations().pause(QUEUE, false);
    assertThat(finishAll()).containsExactly(800_000L, 800_000L, 800_000L);
  }

  /** A test has no bound on what is open: with one, the step would wait for what nobody ends. */
  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void contentsOfDeliveriesThatNobodyEndsHoldNothingUp() {
    finishAll();
    int size = Limits.MAX_PARAMS_BYTES;
    long deliveries = Capacity.bytesOfHeap() / 2 / size + 2;
    for (int i = 0; i <= deliveries / Limits.MAX_ATTEMPTS; i++) {
      submit("large-" + i, "x".repeat(size));
    }

    for (long i = 0; i < deliveries; i++) {
      assertThat(step()).as("delivery %d of %d", i, deliveries).isPresent();
      millis.addAndGet(LEASE.toMillis());
    }
  }

  @Test
  void allLeasesThatRanOutAreTakenBackInOneStep() {
    for (int i = 0; i < 10 * JobStore.MAX_JOBS; i++) {
      submit("more-" + i, "");
    }
    while (step().isPresent()) {
      assertThat(next()).isPresent();
    }
    millis.addAndGet(LEASE.toMillis());

    assertThat(stepper.step(queue -> false)).isEmpty();

    assertThat(stepper.next(queue -> false)).as("the end of a lease").isEmpty();
  }

  @Test
  void whatIsNotEndedComesBackWhenItsLeaseIsOver() {
    assertThat(step()).map(Delivery::taskId).hasValue("1");

    assertThat(finishAll()).containsExactly(0L, 0L, LEASE.toMillis());
  }
}
