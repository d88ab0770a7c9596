package io.punctual.systemtest;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A scheduler that is killed, or stands still for longer than its leases, at a certain point of
 * each script that changes jobs: before Redis gets it, after Redis has run it and before the
 * answer, after the answer. Another one is there; whoever had no answer asks that one.
 */
@Tag("full")
class CrashPointIT {

  private static CrashSystem system;
  private static int rounds;

  @BeforeAll
  static void start() {
    system = new CrashSystem();
  }

  @AfterAll
  static void stop() {
    system.close();
  }

  @ParameterizedTest(name = "{0}, killed: {1}")
  @CsvSource({
    "BEFORE, false",
    "BETWEEN, false",
    "BEHIND, false",
    "BEFORE, true",
    "BETWEEN, true",
    "BEHIND, true"
  })
  void whereverASchedulerMeetsItsEndEachJobHasOneEnd(CrashPoint point, boolean kills)
      throws Exception {
    new CrashRound(system, ++rounds, point, kills).happen();
  }
}
