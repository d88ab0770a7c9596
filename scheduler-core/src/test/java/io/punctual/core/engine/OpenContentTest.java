package io.punctual.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OpenContentTest {

  private final OpenContent content = new OpenContent(1_600);
  private final Doorbell bell = new Doorbell();

  @Test
  void oneApplicationMayHaveHalf() {
    content.opened("a", 799);
    assertThat(content.hasRoom("a", bell)).isTrue();
    content.opened("a", 1);
    assertThat(content.hasRoom("a", bell)).isFalse();
    assertThat(content.hasRoom("b", bell)).isTrue();
  }

  @Test
  void allTogetherMayHaveTheWhole() {
    content.opened("a", 600);
    content.opened("b", 600);
    content.opened("c", 399);
    assertThat(content.hasRoom("d", bell)).isTrue();
    content.opened("c", 1);
    assertThat(content.hasRoom("d", bell)).isFalse();
    assertThat(content.hasRoom("a", bell)).isFalse();
  }

  @Test
  void whoWaitsIsRungOnceEnoughHasEnded() throws InterruptedException {
    content.opened("a", 800);
    assertThat(content.hasRoom("a", bell)).isFalse();
    content.closed("a", 100);
    assertThat(rung()).isFalse();
    content.closed("a", 1);
    assertThat(rung()).isTrue();
    assertThat(content.hasRoom("a", bell)).isTrue();
  }

  @Test
  void whoWaitsForAllTogetherIsRungByAnyOfThem() throws InterruptedException {
    content.opened("a", 700);
    content.opened("b", 700);
    content.opened("c", 200);
    assertThat(content.hasRoom("d", bell)).isFalse();
    content.closed("c", 200);
    assertThat(rung()).isFalse();
    content.closed("b", 1);
    assertThat(rung()).isTrue();
  }

  @Test
  void whatHasEndedLeavesNothing() {
    content.opened("a", 800);
    content.closed("a", 800);
    content.opened("a", 799);
    assertThat(content.hasRoom("a", bell)).isTrue();
  }

  // Returns at once when it was rung; the time is that of a bell that was not.
  private boolean rung() throws InterruptedException {
    long start = System.nanoTime();
    bell.sleep(50_000_000, Long.MIN_VALUE, Long.MIN_VALUE, true);
    boolean early = System.nanoTime() - start < 50_000_000;
    bell.take();
    return early;
  }
}
