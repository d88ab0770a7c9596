package io.punctual.server.problem;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RareLinesTest {

  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
  private final RareLines lines = new RareLines(now::get);

  private void pass(Duration time) {
    now.addAndGet(time.toNanos());
  }

  @Test
  void theFirstIsSaidAtOnceAndTheOthersOnceAMinuteWithTheirNumber() {
    assertThat(lines.line("first")).isEqualTo("first");
    for (int i = 0; i < 3; i++) {
      assertThat(lines.line("more")).isNull();
    }
    pass(RareLines.EVERY.minusNanos(1));
    assertThat(lines.line("more")).isNull();

    pass(Duration.ofSeconds(1));
    assertThat(lines.line("last")).isEqualTo("last (and 4 times more in the 60 s before)");
    assertThat(lines.line("more")).isNull();
  }

  @Test
  void whatIsRareHasALineForEach() {
    assertThat(lines.line("one")).isEqualTo("one");
    pass(RareLines.EVERY);
    assertThat(lines.line("two")).isEqualTo("two");
  }
}
