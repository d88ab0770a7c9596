package io.punctual.test.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.test.Attempt;
import io.punctual.test.TestScheduler;
import io.punctual.test.junit.PunctualTest;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;

/** Stands in docs/test-kit.md. */
@PunctualTest
class DaylightSavingTest {

  @Test
  void aReportRunsOnTheNightOnWhichItsTimeDoesNotExist(TestScheduler scheduler) {
    scheduler.advanceTo(Instant.parse("2100-03-27T12:00:00Z"));
    scheduler.register("report.daily", params -> {});

    scheduler
        .taskSubmitService()
        .schedule("report.daily")
        .cron("30 2 * * *", ZoneId.of("Europe/Berlin"))
        .put();

    assertThat(scheduler.advance(Duration.ofDays(2)))
        .extracting(Attempt::taskId)
        .containsExactly("report.daily@2100-03-28T01:30:00Z", "report.daily@2100-03-29T00:30:00Z");
  }
}
