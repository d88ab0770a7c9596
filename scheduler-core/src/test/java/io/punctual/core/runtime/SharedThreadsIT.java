package io.punctual.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.Engine;
import io.punctual.core.work.Threads;
import java.time.Duration;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Where a thread costs memory, the scanners of many buckets share a few. */
class SharedThreadsIT extends EngineTestBase {

  private static final int BUCKETS = 64;

  private final TestDispatcher dispatcher = new TestDispatcher();

  private Engine engine() {
    return started(
        new ScanningEngine(
            store(),
            rareChecks("engine").with().buckets(BUCKETS).build(),
            dispatcher,
            null,
            Threads::onPlatform,
            Random::new,
            null),
        dispatcher);
  }

  private static long sharedThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("punctual-shared-"))
        .count();
  }

  @Test
  void allJobsGoOutInTimeAndFewThreadsAreMade() {
    Engine engine = engine();
    Set<String> out = new TreeSet<>();
    // Of those that are due later the time wakes the scanner, of the others the signal.
    for (int i = 0; i < 150; i++) {
      submit(engine, "later-" + i, Duration.ofMillis(1500));
      submit(engine, "now-" + i, Duration.ZERO);
    }
    for (int i = 0; i < 300; i++) {
      var delivery = dispatcher.next();
      out.add(delivery.taskId());
      delivery.done().join();
    }

    assertThat(out).hasSize(300);
    assertThat(sharedThreads()).isBetween(1L, 16L);
    assertThat(engine.scanners().running()).isEqualTo(BUCKETS);
    assertThat(engine.scanners().ended()).isEmpty();
  }

  @Test
  void aStopEndsScannersThatSleep() {
    Engine engine = engine();
    submit(engine, "a", Duration.ofHours(1));

    engine.stop(Duration.ofSeconds(10));

    assertThat(engine.inUse()).isEmpty();
    assertThat(dispatcher.seen).isEmpty();
  }
}
