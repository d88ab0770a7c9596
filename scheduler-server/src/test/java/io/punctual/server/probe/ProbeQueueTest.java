package io.punctual.server.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProbeQueueTest {

  private static final int AT_ONCE = 8;
  private static final int OF_APPLICATION = 2;

  /** Those that were begun and not yet ended, in the order in which they began. */
  private final List<Runnable> begun = new ArrayList<>();

  private final List<String> run = new ArrayList<>();
  private final ProbeQueue queue = new ProbeQueue(begun::add, AT_ONCE, OF_APPLICATION);

  private Runnable probe(String name) {
    return () -> run.add(name);
  }

  private void add(String application, int count) {
    for (int i = 0; i < count; i++) {
      queue.add(application, probe(application + i));
    }
  }

  private void endTheFirst() {
    begun.remove(0).run();
  }

  @Test
  void hangingInstancesOfOneApplicationHoldNobodyElseUp() {
    add("mallory", 48);
    assertThat(begun).hasSize(OF_APPLICATION);

    add("shop", 1);

    assertThat(begun).hasSize(OF_APPLICATION + 1);
    begun.remove(OF_APPLICATION).run();
    assertThat(run).containsExactly("shop0");
  }

  @Test
  void aProbeForWhichNoThreadCouldBeStartedRunsLaterAndUsesNoCapacity() {
    boolean[] full = {true};
    ProbeQueue some =
        new ProbeQueue(
            task -> {
              if (full[0]) {
                throw new OutOfMemoryError("of the test");
              }
              begun.add(task);
            },
            AT_ONCE,
            OF_APPLICATION);
    for (int i = 0; i < AT_ONCE; i++) {
      String application = "shop" + i;
      assertThatExceptionOfType(OutOfMemoryError.class)
          .isThrownBy(() -> some.add(application, probe(application)));
    }
    full[0] = false;

    some.startWaiting();
    assertThat(begun).hasSize(AT_ONCE);
    some.add("shop", probe("shop"));

    while (!begun.isEmpty()) {
      endTheFirst();
    }
    assertThat(run).hasSize(AT_ONCE + 1).contains("shop");
  }

  @Test
  void applicationsTakeTurns() {
    for (String name : new String[] {"a", "b", "c", "d", "e", "f"}) {
      add(name, 3);
    }
    assertThat(begun).hasSize(AT_ONCE);

    while (!begun.isEmpty()) {
      endTheFirst();
    }

    assertThat(run).hasSize(18);
    assertThat(run.subList(0, 12)).contains("a0", "b0", "c0", "d0", "e0", "f0");
    // All of it is given back.
    add("a", 1);
    assertThat(begun).hasSize(1);
  }

  @Test
  void whatSomebodyWaitsForIsNextOfItsApplication() {
    add("shop", 10);
    Runnable awaited = probe("awaited");
    queue.add("shop", awaited);

    queue.hurry("shop", awaited);
    endTheFirst();

    assertThat(begun).hasSize(OF_APPLICATION);
    begun.get(OF_APPLICATION - 1).run();
    assertThat(run).containsExactly("shop0", "awaited");
  }

  @Test
  void aProbeThatFailsGivesItsPlaceBack() {
    for (int i = 0; i < 2 * AT_ONCE; i++) {
      queue.add(
          "shop",
          () -> {
            throw new IllegalStateException("a defect");
          });
    }
    queue.add("shop", probe("last"));
    while (!begun.isEmpty()) {
      try {
        endTheFirst();
      } catch (IllegalStateException e) {
        assertThat(e).hasMessage("a defect");
      }
    }
    assertThat(run).containsExactly("last");
  }
}
