package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.punctual.core.job.JobState;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class PurgeIT extends TransitionTestBase {

  private final BucketState some =
      bucket()
          .delayed("d1", 1)
          .delayed("d2", 2)
          .delayed("d3", 3)
          .dead("x1", 1)
          .dead("x2", 2)
          .dead("x3", 3)
          .tries("x1", "0 0 1 1 1 0 5 3")
          .error("x1", "5 failed dead-attempts 1 990000 2\nno")
          .reserved("r1", 1, HELD);

  @Test
  void deadJobsAreGoneWithoutATombstone() {
    given(some);

    assertThat(store.purge(bucket, JobState.DEAD, List.of("x1", "x3", "x3"))).isEqualTo(2);
    then(some.withoutJob("x1").withoutJob("x3").counted("purged", 2));
    assertThat(store.purge(bucket, JobState.DEAD, List.of("x1", "x3"))).isZero();
    then(some.withoutJob("x1").withoutJob("x3").counted("purged", 2));
  }

  @Test
  void waitingJobsAreGoneWithoutATombstone() {
    given(some);

    assertThat(store.purge(bucket, JobState.DELAYED, List.of("d2"))).isEqualTo(1);
    then(some.withoutJob("d2").counted("purged", 1));
  }

  @Test
  void jobsInAnotherStateAreLeftAlone() {
    given(some);

    assertThat(store.purge(bucket, JobState.DEAD, List.of("d1", "r1", "never"))).isZero();
    assertThat(store.purge(bucket, JobState.DELAYED, List.of("x1", "r1", "never"))).isZero();
    then(some);
  }

  @Test
  void anIdWithoutARecordCanBePurged() {
    given(bucket().with("dead", "a", "5").error("a", "5 corrupt dead-corrupt 1 990000 0\n"));

    assertThat(store.purge(bucket, JobState.DEAD, List.of("a"))).isEqualTo(1);
    then(bucket().counted("purged", 1));
  }

  @Test
  void onlyWaitingAndDeadJobsMayBePurged() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.purge(bucket, JobState.RESERVED, List.of("r1")))
        .withMessage("only DELAYED and DEAD can be purged, not RESERVED");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.purge(bucket, JobState.DEAD, Collections.nCopies(201, "a")));
    assertThat(store.purge(bucket, JobState.DEAD, List.of())).isZero();
  }
}
