package io.punctual.spring.modulith;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.InvalidJobException;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JobTargetTest {

  @Test
  void aTargetNamesTypeAndDueTime() {
    assertThat(JobTarget.parse("punctual:order.close"))
        .isEqualTo(new JobTarget("order.close", Duration.ZERO, null));
    assertThat(JobTarget.parse("punctual:order.close?delay=30m"))
        .isEqualTo(JobTarget.parse("punctual:order.close?delay=PT30M"))
        .isEqualTo(new JobTarget("order.close", Duration.ofMinutes(30), null));
    assertThat(JobTarget.parse("punctual:order.close?at=2027-01-01T09:00:00Z"))
        .isEqualTo(new JobTarget("order.close", null, Instant.parse("2027-01-01T09:00:00Z")));
  }

  @Test
  void targetsOfOthersAreNotJobs() {
    assertThat(JobTarget.isJob("orders")).isFalse();
    assertThat(JobTarget.isJob("punctual:orders")).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "punctual:, names no task type",
    "punctual:?delay=1s, names no task type",
    "punctual:a?, has the parameter",
    "punctual:a?in=1s, has the parameter in",
    "punctual:a?delay, 'has the delay '''', which is no duration'",
    "punctual:a?delay=soon, 'has the delay ''soon'', which is no duration'",
    "punctual:a?at=noon, 'has the due time ''noon'', which is no instant'",
  })
  void aWrongTargetIsRefusedWithTheForm(String target, String what) {
    assertThatThrownBy(() -> JobTarget.parse(target))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("the target '" + target + "' " + what)
        .hasMessageContaining("The form is punctual:TASK_TYPE::KEY");
  }
}
