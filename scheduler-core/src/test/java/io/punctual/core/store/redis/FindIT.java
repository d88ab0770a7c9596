package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.AttemptCounts;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobState;
import io.punctual.core.store.query.JobView;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class FindIT extends TransitionTestBase {

  @Test
  void aJobIsShownWithItsWholeStory() {
    BucketState given =
        bucket()
            .delayed("waits", NOW + 5)
            .reserved("runs", NOW + 9, "t-1 4 1 990000 980000 2 me")
            .tries("runs", "1 2 1 1 2 1 970000 3")
            .error("runs", "960000 unknown retry 1 990000 17\nline one\nline two")
            .dead("died", 7);
    given(given);

    JobView waits = find("waits");
    assertThat(waits.now()).isEqualTo(NOW);
    assertThat(waits.state()).isEqualTo(JobState.DELAYED);
    assertThat(waits.at()).isEqualTo(NOW + 5);
    assertThat(Objects.requireNonNull(waits.record()).incarnation()).isEqualTo("i-waits");
    assertThat(waits.tries()).isEqualTo(AttemptCounts.NONE);
    assertThat(waits.lease()).isNull();
    assertThat(waits.failures()).isEmpty();

    JobView runs = find("runs");
    assertThat(runs.state()).isEqualTo(JobState.RESERVED);
    assertThat(runs.at()).isEqualTo(NOW + 9);
    assertThat(runs.tries())
        .isEqualTo(new AttemptCounts(1, 2, 1, 1, 2, /* suspect= */ true, 970_000, 3, 0));
    assertThat(runs.lease())
        .isEqualTo(
            new JobView.LeaseInfo(
                TOKEN, 4, /* pulled= */ true, 990_000, 980_000, 2, "me", /* cancelling= */ false));
    assertThat(runs.failures()).hasSize(1);
    JobView.Failure error = runs.failures().get(0);
    assertThat(error.at()).isEqualTo(960_000);
    assertThat(error.kind()).isEqualTo("unknown");
    assertThat(error.disposition()).isEqualTo("retry");
    assertThat(error.note()).isEqualTo(new ErrorNote("line one", "line two"));

    assertThat(find("died").state()).isEqualTo(JobState.DEAD);
    assertThat(find("died").at()).isEqualTo(7);
    then(given);
  }

  private JobView find(String id) {
    JobView found = store.find(bucket, id).orElseThrow();
    assertThat(found.taskId()).isEqualTo(id);
    return found;
  }

  @Test
  void aTombstoneIsShownWhileItLives() {
    BucketState given =
        bucket()
            .tomb("ran", NOW + 1, "D", "x", 77)
            .tomb("cancelled", NOW + 1, "C", "x", 78)
            .tomb("forgotten", NOW, "D", "x", 79);
    given(given);

    assertThat(find("ran").state()).isEqualTo(JobState.FINISHED);
    assertThat(find("ran").at()).isEqualTo(77);
    assertThat(find("ran").record()).isNull();
    assertThat(find("cancelled").state()).isEqualTo(JobState.CANCELLED);
    assertThat(find("cancelled").at()).isEqualTo(78);
    assertThat(find("ran").ending()).isNull();
    assertThat(find("cancelled").ending()).isNull();
    assertThat(store.find(bucket, "forgotten")).isEmpty();
    assertThat(store.find(bucket, "never")).isEmpty();
    then(given);
  }

  @Test
  void whatIsMangledIsShownAsAbsent() {
    given(
        bucket()
            .reserved("a", 5, "lease?")
            .record("a", "record?")
            .tries("a", "tries?")
            .error("a", "error?"));

    JobView found = find("a");
    assertThat(found.record()).isNull();
    assertThat(found.tries()).isEqualTo(AttemptCounts.NONE);
    assertThat(found.lease()).isNull();
    assertThat(found.failures()).isEmpty();
  }
}
