package io.punctual.client.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.junit.jupiter.api.Test;

class PlacesTest {

  private static final long MINUTE = 60_000;

  private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);
  private final List<String> told = new ArrayList<>();

  @Test
  void aJobThatCannotWaitForAPlaceLeavesTheOneThatItHas() throws Exception {
    Places all = new Places(1, timer);
    Places ofType = new Places(1, timer);
    all.take(() -> told.add("first"), MINUTE, () -> told.add("first gave up"));
    // As if there were no memory to wait.
    timer.shutdownNow();

    ofType.take(
        () ->
            all.take(
                () -> told.add("second"),
                MINUTE,
                () -> {
                  told.add("second gave up");
                  ofType.leave();
                }),
        MINUTE,
        () -> told.add("second had no place"));

    assertThat(told).containsExactly("first", "second gave up");
    assertThat(ofType.awaitEmpty(0)).isTrue();
    all.leave();
    assertThat(all.awaitEmpty(0)).isTrue();
  }
}
