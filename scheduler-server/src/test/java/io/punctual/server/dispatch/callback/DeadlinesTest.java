package io.punctual.server.dispatch.callback;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.dispatch.FakeDelivery;
import io.punctual.server.dispatch.callback.ProtocolFixture.Recorded;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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

  @Test
  void eachJobEndsWhenItsOwnTimeIsOverAndTheCallWithTheLast() {
    Recorded soon = job("soon", 50);
    Recorded later = job("later", 300);
    Deadlines.Watch watch = deadlines.watch(List.of(soon, later), over::incrementAndGet);
    try (watch) {
      Awaitility.await().until(soon::isEnded);
      assertThat(soon.end()).isEqualTo("time over: no answer within its time-to-run of PT0.05S");
      assertThat(over).hasValue(later.isEnded() ? 1 : 0);
      Awaitility.await().until(later::isEnded);
      Awaitility.await().until(() -> over.get() == 1);
    }
  }

  @Test
  void aWatchThatIsClosedLooksNoMore() throws InterruptedException {
    Recorded closed = job("closed", 50);
    Recorded after = job("after", 150);
    deadlines.watch(List.of(closed), over::incrementAndGet).close();
    Deadlines.Watch watch = deadlines.watch(List.of(after), () -> {});
    try (watch) {
      Awaitility.await().until(after::isEnded);
    }
    assertThat(closed.isEnded()).isFalse();
    assertThat(over).hasValue(0);
  }

  @Test
  void aJobThatAskedForMoreTimeHasIt() {
    long until = System.nanoTime() + Duration.ofMillis(400).toNanos();
    FakeDelivery delivery = new FakeDelivery("more", Duration.ofMillis(50));
    AtomicInteger looks = new AtomicInteger();
    Recorded more =
        new Recorded(delivery) {
          @Override
          public @Nullable Duration extension() {
            looks.incrementAndGet();
            return Duration.ofNanos(until - System.nanoTime());
          }
        };
    Deadlines.Watch watch = deadlines.watch(List.of(more), over::incrementAndGet);
    try (watch) {
      Awaitility.await().until(more::isEnded);
      assertThat(System.nanoTime() - until).isPositive();
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
    deadlines.after(Duration.ofMillis(50), over::incrementAndGet).run();
    Runnable unused = deadlines.after(Duration.ofMillis(150), ran::countDown);
    assertThat(ran.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(over).hasValue(0);
  }
}
