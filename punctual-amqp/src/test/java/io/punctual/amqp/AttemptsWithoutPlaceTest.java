package io.punctual.amqp;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AttemptsWithoutPlaceTest {

  private final AttemptsWithoutPlace attempts = new AttemptsWithoutPlace();

  @Test
  void theTenthInARowIsTheLast() {
    assertAreNotLast(9, "a");
    assertThat(attempts.isLast("b")).isFalse();
    assertThat(attempts.isLast("a")).isTrue();
    // Of a message that was requeued then.
    assertAreNotLast(9, "a");
  }

  @Test
  void anotherFailureBeginsTheCountAgainHoweverManyAttemptsWereMadeElsewhere() {
    assertAreNotLast(9, "a");
    attempts.forget("a");
    assertAreNotLast(9, "a");
    assertThat(attempts.isLast("a")).isTrue();
  }

  private void assertAreNotLast(int count, String incarnation) {
    for (int i = 0; i < count; i++) {
      assertThat(attempts.isLast(incarnation)).isFalse();
    }
  }
}
