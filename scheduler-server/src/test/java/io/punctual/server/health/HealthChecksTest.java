package io.punctual.server.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.server.probe.Status;
import io.punctual.server.registry.RegistryContact;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where well ends and bad begins. */
class HealthChecksTest {

  @ParameterizedTest
  @CsvSource({
    "0, OK, ahead of",
    "2000, OK, ahead of",
    "-2000, OK, behind",
    "2001, WARNING, ahead of",
    "-60000, WARNING, behind",
    "60001, PROBLEM, ahead of",
    "-3600000, PROBLEM, behind"
  })
  void clocksMayDifferByALittle(long aheadMs, Status status, String side) {
    Finding check = HealthChecks.clock(aheadMs);
    assertThat(check.severity()).isEqualTo(status);
    assertThat(check.text()).contains(Math.abs(aheadMs) + " ms " + side);
    assertThat(check.remedy() == null).isEqualTo(status == Status.OK);
    if (check.remedy() != null) {
      assertThat(check.remedy()).contains("NTP", "dueAt");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "PT0S, PT0S, OK",
    "PT30S, PT1H, OK",
    "PT31S, PT1H, WARNING",
    "PT5M, PT1H, WARNING",
    "PT5M1S, PT1H, PROBLEM",
    ", PT29S, WARNING",
    ", PT30S, PROBLEM"
  })
  void theRegistrysViewMayBeALittleOld(@Nullable Duration age, Duration waited, Status status) {
    Finding check =
        HealthChecks.view(
            new RegistryContact.View("http://registry:8761/eureka/", "the.setting", age, waited));
    assertThat(check.severity()).isEqualTo(status);
    assertThat(check.text()).contains("http://registry:8761/eureka/");
    assertThat(check.remedy() == null).isEqualTo(status == Status.OK);
    if (check.remedy() != null) {
      assertThat(check.remedy()).contains("the.setting");
    }
  }
}
