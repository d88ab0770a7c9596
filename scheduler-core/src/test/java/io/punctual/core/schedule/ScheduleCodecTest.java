package io.punctual.core.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.punctual.RetryPolicy;
import io.punctual.core.job.CorruptContentException;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobContent;
import io.punctual.schedule.Fold;
import io.punctual.schedule.Gap;
import io.punctual.schedule.Missed;
import io.punctual.schedule.WhileRunning;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ScheduleCodecTest {

  private static final ScheduleDefinition FULL =
      new ScheduleDefinition(
          new Recurrence(
              Cron.parse("0 9 * * MON-FRI"),
              null,
              Instant.EPOCH,
              ZoneId.of("Europe/Berlin"),
              Gap.SKIP,
              Fold.BOTH,
              Instant.parse("2027-01-01T00:00:00.001Z"),
              Instant.parse("2028-01-01T00:00:00Z"),
              Set.of(LocalDate.of(2027, 12, 24), LocalDate.of(2027, 12, 31))),
          Set.of("de-BY", "-"),
          Missed.LATEST,
          Duration.ofHours(2),
          WhileRunning.QUEUE,
          Duration.ofSeconds(30),
          JobContent.of(Due.in(0))
              .params("a\tb\n\u20ac")
              .timeToRun(Duration.ofMinutes(2))
              .retry(RetryPolicy.NOTIFY)
              .headers(Map.of("x", "y"))
              .tags(List.of("a:1", "b"))
              .build());

  private static final ScheduleDefinition LEAST =
      new ScheduleDefinition(
          new Recurrence(
              null,
              Duration.ofMillis(1001),
              Instant.EPOCH,
              ZoneOffset.UTC,
              Gap.SHIFT,
              Fold.FIRST,
              null,
              null,
              Set.of()),
          Missed.NONE,
          null,
          WhileRunning.SKIP,
          Duration.ZERO,
          JobContent.of(Due.in(0)).build());

  @Test
  void whatIsWrittenIsReadBack() {
    for (ScheduleDefinition definition : List.of(FULL, LEAST)) {
      assertThat(ScheduleCodec.decode(ScheduleCodec.encode(definition))).isEqualTo(definition);
    }
  }

  @Test
  void whatWasNotWrittenByUsIsRefused() {
    byte[] bytes = ScheduleCodec.encode(FULL);
    for (int length = 0; length < bytes.length; length++) {
      byte[] part = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> ScheduleCodec.decode(part))
          .isInstanceOf(CorruptContentException.class);
    }
    String other = new String(bytes, StandardCharsets.UTF_8).replace("LATEST", "LAST");
    assertThatThrownBy(() -> ScheduleCodec.decode(other.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(CorruptContentException.class);
  }

  @Test
  void aStateIsReadBack() {
    Instant at = Instant.parse("2027-01-01T00:00:00.001Z");
    for (ScheduleState state :
        List.of(
            ScheduleState.begin("v", null),
            new ScheduleState(
                "v", at, at.plusMillis(1), at.plusMillis(2), at.plusMillis(3), 1, 2, 3))) {
      assertThat(ScheduleState.parse(state.text())).isEqualTo(state);
    }
    for (String text : List.of("", "v", "v - - - - 1 2", "v x - - - 1 2 3")) {
      assertThatThrownBy(() -> ScheduleState.parse(text))
          .isInstanceOf(CorruptContentException.class);
    }
  }
}
