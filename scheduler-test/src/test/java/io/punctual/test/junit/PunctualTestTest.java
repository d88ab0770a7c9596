package io.punctual.test.junit;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.test.TestScheduler;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;

/** Without Spring. */
@PunctualTest
class PunctualTestTest {

  private static final Set<TestScheduler> SEEN = new HashSet<>();

  private @Nullable TestScheduler before;

  @BeforeEach
  void remember(TestScheduler scheduler) {
    before = scheduler;
    assertThat(SEEN.add(scheduler)).isTrue();
  }

  @RepeatedTest(2)
  void eachTestHasASchedulerOfItsOwn(TestScheduler scheduler) {
    assertThat(scheduler).isSameAs(before);
    scheduler.taskSubmitService().send("any", "", Duration.ofHours(1));
    assertThat(scheduler.jobs()).hasSize(1);
  }
}
