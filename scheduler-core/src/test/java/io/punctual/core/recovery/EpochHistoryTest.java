package io.punctual.core.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.recovery.EpochHistory.Change;
import io.punctual.core.store.durability.Epoch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EpochHistoryTest {

  private final EpochHistory history = new EpochHistory();

  private Change look(String id, long sequence, long second) {
    Epoch now = new Epoch("", "", TimeUnit.SECONDS.toMillis(second), 0, id, sequence, 0);
    Change change = history.change(now);
    history.add(now, TimeUnit.SECONDS.toNanos(second));
    return change;
  }

  private @Nullable Long completeUntil(long sequence) {
    Long ticks = history.completeUntil(sequence);
    return ticks == null ? null : TimeUnit.NANOSECONDS.toSeconds(ticks);
  }

  @Test
  void earlierLooksStillCountWhenAnOlderStateComesBackTwice() {
    look("store", 3, 10);
    look("store", 9, 20);

    assertThat(completeUntil(4)).isEqualTo(8);
    assertThat(look("store", 5, 30)).isEqualTo(Change.OLDER);
    look("store", 9, 40);

    assertThat(completeUntil(4)).isEqualTo(8);
    assertThat(look("store", 5, 50)).isEqualTo(Change.OLDER);
  }

  @Test
  void looksAfterTheOlderStateAreForgotten() {
    look("store", 3, 10);
    look("store", 9, 20);
    look("store", 5, 30);

    assertThat(completeUntil(9)).isEqualTo(28);
    assertThat(completeUntil(2)).isNull();
  }

  @Test
  void looksBeforeTheStoreWasEmptiedAreForgotten() {
    look("store", 3, 10);

    assertThat(look("other", 5, 20)).isEqualTo(Change.EMPTIED);

    assertThat(completeUntil(4)).isNull();
    assertThat(completeUntil(5)).isEqualTo(18);
  }
}
