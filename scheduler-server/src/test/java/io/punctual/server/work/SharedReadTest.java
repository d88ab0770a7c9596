package io.punctual.server.work;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SharedReadTest {

  private final AtomicLong nanos = new AtomicLong();
  private final AtomicLong cost = new AtomicLong();
  private final AtomicInteger reads = new AtomicInteger();
  private final SharedRead<Integer> read =
      new SharedRead<>(
          () -> {
            pass(cost.get());
            return reads.incrementAndGet();
          },
          Duration.ofSeconds(10),
          nanos::get);

  private void pass(long ms) {
    nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(ms));
  }

  @Test
  void aFreshValueIsNotReadAgain() {
    assertThat(read.get()).isEqualTo(1);
    pass(9_999);
    assertThat(read.get()).isEqualTo(1);
    pass(1);
    assertThat(read.get()).isEqualTo(2);
  }

  @Test
  void whatTakesLongEachTimeIsReadLessOften() {
    cost.set(2_000);
    assertThat(read.get()).isEqualTo(1);
    pass(10_000);
    assertThat(read.get()).isEqualTo(2);
    pass(39_999);
    assertThat(read.get()).isEqualTo(2);
    pass(1);
    assertThat(read.get()).isEqualTo(3);
  }

  @Test
  void oneSlowReadAmongQuickOnesHoldsUpNothing() {
    cost.set(60_000);
    assertThat(read.get()).isEqualTo(1);
    cost.set(1);
    pass(10_000);
    assertThat(read.get()).isEqualTo(2);
    cost.set(60_000);
    pass(10_000);
    assertThat(read.get()).isEqualTo(3);
    pass(10_000);
    assertThat(read.get()).isEqualTo(4);
  }

  @Test
  void thoseWhoAskMeanwhileWaitForTheSameAnswer() throws Exception {
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch answered = new CountDownLatch(1);
    AtomicBoolean fails = new AtomicBoolean(true);
    SharedRead<Integer> slow =
        new SharedRead<>(
            () -> {
              reading.countDown();
              await(answered);
              if (fails.get()) {
                throw new IllegalStateException("Redis is away");
              }
              return reads.incrementAndGet();
            },
            Duration.ofSeconds(10));
    CompletableFuture<Integer> first = CompletableFuture.supplyAsync(slow::get);
    await(reading);
    CompletableFuture<Integer> second = new CompletableFuture<>();
    Thread other = Thread.ofVirtual().start(() -> complete(second, slow));
    while (other.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    answered.countDown();

    assertThatThrownBy(first::join).hasRootCauseMessage("Redis is away");
    assertThatThrownBy(second::join).hasRootCauseMessage("Redis is away");
    fails.set(false);
    assertThat(slow.get()).isEqualTo(1);
    assertThat(slow.get()).isEqualTo(1);
  }

  private static void complete(CompletableFuture<Integer> future, SharedRead<Integer> read) {
    try {
      future.complete(read.get());
    } catch (IllegalStateException e) {
      future.completeExceptionally(e);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      if (!latch.await(30, TimeUnit.SECONDS)) {
        throw new IllegalStateException("nothing came within 30 s");
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
