package io.punctual.core.deliver;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.Lateness;
import io.punctual.core.job.AttemptCounts;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.Origin;
import io.punctual.core.store.ClaimedJob;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The store's time in ms, monotonic time in ns. */
class ClaimTimeTest {

  private static final long MS = 1_000_000;

  @Test
  void whatAJobWaitedForAddsUp() {
    // Due at 1000, claimed at 1500; for the last 200 ms there was room; 3 ms later it was sent.
    Lateness late = new ClaimTime(7 * MS, 1_500, 0, 200 * MS).lateness(job(1_000, 0, 10), 10 * MS);
    assertThat(late).isEqualTo(new Lateness(0, 300 * MS, 200 * MS, 3 * MS));
    assertThat(late.nanos()).isEqualTo(503 * MS);
  }

  @Test
  void whereThereWasRoomAllTheTimeItsScannerWasLate() {
    Lateness late = new ClaimTime(0, 1_004, 0, 3_600_000 * MS).lateness(job(1_000, 0, 10), MS);
    assertThat(late).isEqualTo(new Lateness(0, 0, 4 * MS, MS));
  }

  @Test
  void aDueTimeBeforeTheSubmitIsNotHeldAgainstAnybody() {
    Lateness late = new ClaimTime(0, 1_004, 0, 0).lateness(job(0, 0, 1_001), 0);
    assertThat(late).isEqualTo(new Lateness(0, 3 * MS, 0, 0));
  }

  @Test
  void whatWasSentBeforeAndFoundNobodyIsLateSinceThen() {
    // Due at 1000 at first; the latest try was due at 3000.
    Lateness late = new ClaimTime(0, 3_001, 0, 9 * MS).lateness(job(3_000, 1_000, 10), 2 * MS);
    assertThat(late).isEqualTo(new Lateness(2_000 * MS, 0, MS, 2 * MS));
  }

  @Test
  void whatWaitedForTheHoursOfItsQueueIsLateSinceTheyBegan() {
    // Due at 1000, and sent at 2000 in vain; the queue opened at 5000, and was claimed from at
    // 5004.
    ClaimTime time = new ClaimTime(0, 5_004, 5_000, 60_000 * MS);
    assertThat(time.lateness(job(1_000, 0, 10), MS)).isEqualTo(new Lateness(0, 0, 4 * MS, MS));
    assertThat(time.lateness(job(2_000, 1_000, 10), MS)).isEqualTo(new Lateness(0, 0, 4 * MS, MS));
    assertThat(time.waited(job(1_000, 0, 10))).isEqualTo(4);
    // Due within the hours.
    assertThat(time.waited(job(5_001, 0, 10))).isEqualTo(3);
  }

  @Test
  void theFirstAttemptIsLateSinceTheJobWasDueAndAFurtherOneSinceTheTimeOfItsRetry() {
    ClaimTime time = new ClaimTime(0, 3_004, 0, 0);
    assertThat(time.lateSince(job(1_000, 0, 10))).isEqualTo(1_000);
    // Sent at 1000 in vain.
    assertThat(time.lateSince(job(3_000, 1_000, 10))).isEqualTo(1_000);
    assertThat(time.late(job(3_000, 1_000, 10))).isEqualTo(2_004);
    ClaimedJob retry = job(2, 3_000, 0, 10);
    assertThat(time.lateSince(retry)).isEqualTo(3_000);
    assertThat(time.late(retry)).isEqualTo(4);
    // A retry that was sent at 2000 in vain.
    assertThat(time.lateSince(job(2, 3_000, 2_000, 10))).isEqualTo(2_000);
    assertThat(time.late(job(2, 3_000, 2_000, 10))).isEqualTo(1_004);
    // Accepted later, or kept back by the hours of its queue.
    assertThat(time.lateSince(job(0, 0, 1_001))).isEqualTo(1_001);
    assertThat(new ClaimTime(0, 5_004, 5_000, 0).lateSince(retry)).isEqualTo(5_000);
  }

  private static ClaimedJob job(long due, long attemptDue, long accepted) {
    return job(1, due, attemptDue, accepted);
  }

  private static ClaimedJob job(int attempt, long due, long attemptDue, long accepted) {
    return new ClaimedJob(
        "a",
        due,
        attempt,
        new JobRecord("i", 5, accepted, 0, Origin.UNKNOWN, List.of(), new byte[0]),
        new AttemptCounts(
            attemptDue == 0 ? 0 : 1,
            0,
            attempt - 1,
            attempt - 1,
            attempt - 1,
            false,
            900,
            2,
            attemptDue),
        new LeaseToken("t"));
  }
}
