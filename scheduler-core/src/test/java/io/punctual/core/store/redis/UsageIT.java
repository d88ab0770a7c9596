package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Due;
import io.punctual.core.store.Submission;
import io.punctual.core.store.query.BucketUsage;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class UsageIT extends TransitionTestBase {

  private static final int JOBS = 50;
  private static final int BYTES = 10_000;

  @Test
  void nothingTakesNothing() {
    assertThat(store.usage(bucket)).isEqualTo(new BucketUsage(0, 0));
  }

  @Test
  void jobsOfEveryStateAreCounted() {
    BucketState given =
        bucket().delayed("d", NOW + 1).reserved("r", NOW + 50, HELD).dead("x", NOW - 1);
    given(given);

    BucketUsage usage = store.usage(bucket);

    assertThat(usage.jobs()).isEqualTo(3);
    assertThat(usage.bytes()).isPositive();
    then(given);
  }

  @Test
  void theBytesAreThoseOfTheContents() {
    List<Submission> jobs =
        IntStream.range(0, JOBS)
            .mapToObj(
                i ->
                    new Submission(
                        "job-" + i,
                        "i-" + i,
                        Due.in(60_000),
                        3,
                        0,
                        List.of(),
                        new byte[BYTES],
                        /* replace= */ false))
            .toList();
    store.submit(bucket, jobs);

    BucketUsage usage = store.usage(bucket);

    assertThat(usage.jobs()).isEqualTo(JOBS);
    // The allocator's classes of sizes are a quarter apart.
    assertThat(usage.bytes()).isBetween((long) JOBS * BYTES, 2L * JOBS * BYTES);
  }
}
