package io.punctual.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An entry in a registry that is away, loses it, or stands still. */
@Timeout(30)
class KeptRegistrationTest {

  private static final KeptRegistration.Texts TEXTS =
      new KeptRegistration.Texts("Consul", "this instance", "schedulers", "consul.host");

  private final Registry registry = new Registry();
  private final List<String> warnings = new CopyOnWriteArrayList<>();
  private final List<String> news = new CopyOnWriteArrayList<>();
  private KeptRegistration kept = kept(Duration.ofSeconds(20));

  private KeptRegistration kept(Duration patience) {
    return new KeptRegistration(
        registry,
        TEXTS,
        warnings::add,
        news::add,
        Duration.ofMillis(10),
        Duration.ofMillis(10),
        patience);
  }

  private static final class Registry implements KeptRegistration.Client {
    volatile boolean away;
    volatile boolean deaf;
    volatile boolean refuses;
    volatile boolean has;
    volatile int registrations;
    volatile int questions;
    volatile boolean waiting;
    volatile CountDownLatch stands = new CountDownLatch(0);

    @Override
    public void register() throws Exception {
      waiting = true;
      while (stands.getCount() > 0) {
        try {
          stands.await();
        } catch (InterruptedException e) {
          if (!deaf) {
            throw e;
          }
        }
      }
      answer();
      registrations++;
      has = !refuses;
    }

    @Override
    public boolean isRegistered() throws Exception {
      answer();
      questions++;
      return has;
    }

    @Override
    public void deregister() throws Exception {
      answer();
      has = false;
    }

    private void answer() throws IOException {
      if (away) {
        throw new IllegalStateException("wrapped", new IOException("away"));
      }
    }
  }

  @AfterEach
  void stop() throws Exception {
    kept.stop();
  }

  @Test
  void whatIsThereIsNotRegisteredAgain() {
    kept.start();
    await(() -> registry.questions > 3);

    assertThat(registry.registrations).isEqualTo(1);
    assertThat(kept.problem()).isNull();
    assertThat(warnings).isEmpty();
    assertThat(news).isEmpty();
  }

  @Test
  void aRegistryThatIsAwayAtTheStartIsWaitedForWithOneLineAtEachEnd() {
    registry.away = true;
    kept.start();
    assertThat(kept.problem()).isEqualTo("Consul does not show it (java.io.IOException: away)");
    int before = registry.questions;

    registry.away = false;
    await(() -> registry.questions > before + 1);

    assertThat(kept.problem()).isNull();
    assertThat(warnings)
        .containsExactly(
            "Consul does not take or show the registration of this instance (java.io.IOException:"
                + " away). This is retried until it succeeds. Until then, schedulers may not find it"
                + " there. Check consul.host.");
    assertThat(news).containsExactly("Consul shows the registration of this instance");
  }

  @Test
  void anEntryThatIsGoneComesBack() {
    kept.start();
    await(() -> registry.questions > 0);
    registry.has = false;
    await(() -> !news.isEmpty());

    assertThat(registry.registrations).isEqualTo(2);
    assertThat(warnings).hasSize(1);
    assertThat(warnings.get(0)).startsWith("Consul had lost the registration of this instance");
    assertThat(kept.problem()).isNull();
  }

  @Test
  void aRegistryThatRefusesWithoutAWordIsReported() {
    registry.refuses = true;
    kept.start();
    await(() -> registry.registrations > 3);

    assertThat(kept.problem()).contains("it answered, but does not have the entry");
    assertThat(warnings).hasSize(1);
  }

  @Test
  void oneThatStandsStillHoldsUpNeitherStartNorStop() throws Exception {
    registry.stands = new CountDownLatch(1);
    kept = kept(Duration.ofMillis(100));
    kept.start();
    assertThat(warnings).hasSize(1);
    assertThat(warnings.get(0)).contains("no answer within");

    kept.stop();
    registry.stands.countDown();
    kept.stop();
    assertThat(registry.registrations).isZero();
  }

  @Test
  void oneThatHearsNothingHoldsUpNoStop() {
    registry.deaf = true;
    registry.stands = new CountDownLatch(1);
    kept = kept(Duration.ofMillis(100));
    kept.start();

    assertThatThrownBy(kept::stop)
        .isInstanceOf(TimeoutException.class)
        .hasMessageStartingWith("Consul did not remove the registration of this instance within");
    registry.stands.countDown();
  }

  @Test
  void whatTheRegistrySaysToARemovalIsThrown() {
    kept.start();
    registry.away = true;
    assertThatThrownBy(kept::stop).hasRootCauseMessage("away");
    registry.away = false;
    kept = kept(Duration.ofSeconds(20));
    kept.start();
  }

  @Test
  void whatIsUnderWayAtTheStopIsRemovedAfterIt() throws Exception {
    registry.deaf = true;
    registry.stands = new CountDownLatch(1);
    kept = kept(Duration.ofSeconds(20));
    Thread start = new Thread(kept::start);
    start.start();
    await(() -> registry.waiting);
    Thread stop = new Thread(() -> assertThatCode(kept::stop).doesNotThrowAnyException());
    stop.start();
    await(() -> stop.getState() == Thread.State.TIMED_WAITING);
    registry.stands.countDown();
    stop.join();

    assertThat(registry.registrations).isEqualTo(1);
    assertThat(registry.has).isFalse();
  }

  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait();
    }
  }
}
