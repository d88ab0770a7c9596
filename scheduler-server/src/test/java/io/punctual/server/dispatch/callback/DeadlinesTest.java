package io.punctual.server.dispatch.callback;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.dispatch.FakeDelivery;
import io.punctual.server.dispatch.callback.ProtocolFixture.Recorded;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DeadlinesTest {

  private final Deadlines deadlines = new Deadlines();
  private final AtomicInteger over = new AtomicInteger();

  @AfterEach
  void close() {
    deadlines.close();
  }

  private static Recorded job(String id, long millis) {
    return new Recorded(new FakeDelivery(id, Duration.ofMillis(millis)));
  }

  /** Blocks the timer until the semaphore is released, however long this thread stands still. */
  private Semaphore stopTimer() {
    Semaphore goOn = new Semaphore(0);
    Runnable unused = deadlines.after(Duration.ZERO, goOn::acquireUninterruptibly);
    return goOn;
  }

  @Test
  void eachJobEndsWhenItsOwnTimeIsOverAndTheCallWithTheLast() {
    Recorded soon = job("soon", 50);
    Recorded later = job("later", 300);
    Deadlines.Watch watch = deadlines.watch(List.of(soon, later), over::incrementAndGet);
    try (watch) {
      Awaitility.await().until(soon::isEnded);
      assertThat(soon.end()).isEqualTo("time over: no answer within its time-to-run of PT0.05S");
      assertThat(over.get() == 0 || later.isEnded()).isTrue();
      Awaitility.await().until(later::isEnded);
      Awaitility.await().until(() -> over.get() == 1);
    }
  }

  @Test
  void aWatchThatIsClosedLooksNoMore() {
    Recorded closed = job("closed", 50);
    Recorded after = job("after", 150);
    Semaphore goOn = stopTimer();
    deadlines.watch(List.of(closed), over::incrementAndGet).close();
    goOn.release();
    Deadlines.Watch watch = deadlines.watch(List.of(after), () -> {});
    try (watch) {
      Awaitility.await().until(after::isEnded);
    }
    assertThat(closed.isEnded()).isFalse();
    assertThat(over).hasValue(0);
  }

  @Test
  void aJobThatAskedForMoreTimeHasIt() {
    AtomicLong until = new AtomicLong();
    FakeDelivery delivery = new FakeDelivery("more", Duration.ofMillis(50));
    AtomicInteger looks = new AtomicInteger();
    Recorded more =
        new Recorded(delivery) {
          @Override
          public @Nullable Duration extension() {
            long now = System.nanoTime();
            if (looks.incrementAndGet() == 1) {
              until.set(now + Duration.ofMillis(400).toNanos());
            }
            return Duration.ofNanos(until.get() - now);
          }
        };
    Deadlines.Watch watch = deadlines.watch(List.of(more), over::incrementAndGet);
    try (watch) {
      Awaitility.await().until(more::isEnded);
      assertThat(System.nanoTime() - until.get()).isPositive();
      assertThat(looks.get()).isGreaterThanOrEqualTo(2);
      assertThat(more.end()).endsWith("and with what it asked for");
    }
  }

  @Test
  void aRepeatedActionGoesOnAfterAnError() {
    deadlines.every(
        Duration.ofMillis(10),
        () -> {
          if (over.incrementAndGet() == 1) {
            throw new AssertionError("a defect");
          }
        });
    Awaitility.await().until(() -> over.get() >= 3);
  }

  @Test
  void anAttemptWhoseEndThrowsKeepsNoOtherFromItsEnd() {
    Recorded broken =
        new Recorded(new FakeDelivery("broken", Duration.ofMillis(50))) {
          @Override
          public void timeOver(String error) {
            super.timeOver(error);
            throw new AssertionError("a defect");
          }
        };
    Recorded other = job("other", 50);
    Deadlines.Watch watch = deadlines.watch(List.of(broken, other), over::incrementAndGet);
    try (watch) {
      Awaitility.await().until(other::isEnded);
      Awaitility.await().until(() -> over.get() == 1);
    }
  }

  @Test
  void anActionThatIsCalledOffDoesNotRun() throws InterruptedException {
    CountDownLatch ran = new CountDownLatch(1);
    Semaphore goOn = stopTimer();
    deadlines.after(Duration.ofMillis(50), over::incrementAndGet).run();
    goOn.release();
    Runnable unused = deadlines.after(Duration.ofMillis(150), ran::countDown);
    assertThat(ran.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(over).hasValue(0);
  }
}
