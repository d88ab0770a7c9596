package io.punctual.spring.once;

import static org.assertj.core.api.Assertions.assertThatCode;

import io.punctual.TaskContext;
import org.junit.jupiter.api.Test;

class OnceFiltersTest {

  /** A timer runs nothing again that has thrown. */
  @Test
  void anErrorDoesNotEndTheCleaning() {
    OnceFilter failing =
        new OnceFilter() {
          @Override
          public boolean run(TaskContext context, Work work) {
            return true;
          }

          @Override
          public void clean() {
            throw new OutOfMemoryError("a test's");
          }
        };

    assertThatCode(() -> new OnceFilters.Cleaning(failing).run()).doesNotThrowAnyException();
  }
}
