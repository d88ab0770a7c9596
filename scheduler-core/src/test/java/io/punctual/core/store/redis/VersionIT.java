package io.punctual.core.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Due;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.Origin;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Lease;
import io.punctual.core.store.Requeue;
import io.punctual.core.store.Revision;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Submission;
import io.punctual.core.store.Submitted;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Each change makes a job's version larger by one, and nothing else does. */
class VersionIT extends TransitionTestBase {

  private static final String ID = "a";
  private long expected;

  private Submitted.Item submit(String content, boolean replace) {
    return store
        .submit(
            bucket,
            List.of(
                new Submission(
                    ID, "i-" + content, Due.in(0), 2, 0, List.of(), bytes(content), replace)))
        .items()
        .get(0);
  }

  private ClaimedJob claim() {
    ClaimedJob job =
        store.claim(bucket, 1, LEASE, JobStore.ClaimMode.PUSH, TOKEN, "me").jobs().get(0);
    changed(job.version());
    return job;
  }

  private void end(Settlement.Op op) {
    ClaimedJob job = claim();
    store.settle(
        bucket,
        List.of(
            new Settlement(
                op, ID, job.record().incarnation(), TOKEN, Duration.ZERO, true, new byte[0])));
    changed(found());
  }

  private long found() {
    return store.find(bucket, ID).orElseThrow().version();
  }

  /** It is one more than it was. */
  private void changed(long version) {
    expected++;
    assertThat(version).isEqualTo(expected);
    assertThat(found()).isEqualTo(expected);
  }

  private void changed(@Nullable JobVersion version) {
    assertThat(version).isNotNull();
    changed(version.number());
  }

  private JobVersion version(String content) {
    return new JobVersion("i-" + content, expected);
  }

  @Test
  void eachChangeMakesItLarger() {
    assertThat(submit("1", false).version()).isEqualTo(new JobVersion("i-1", 1));
    changed(1);
    assertThat(submit("1", false).version()).isEqualTo(version("1"));
    assertThat(submit("2", false).version()).isEqualTo(version("1"));
    assertThat(submit("2", true).version()).isEqualTo(new JobVersion("i-2", 2));
    changed(2);

    changed(store.revise(bucket, ID, Revision.of(Due.in(0))).version());
    Revision.NewContent content =
        new Revision.NewContent("i-3", 2, 0, Origin.UNKNOWN, List.of(), bytes("3"));
    changed(store.revise(bucket, ID, new Revision(null, content, version("2"))).version());

    end(Settlement.Op.UNDELIVERABLE);
    end(Settlement.Op.RELEASED);
    end(Settlement.Op.RETURNED);
    end(Settlement.Op.FAILED);
    end(Settlement.Op.FAILED);
    changed(store.requeue(bucket, List.of(Requeue.of(ID)), Duration.ZERO).items().get(0).version());
    end(Settlement.Op.REJECTED);
    assertThat(submit("4", true).kind()).isEqualTo(Submitted.Kind.REPLACED);
    changed(found());

    ClaimedJob held = claim();
    store.extend(bucket, List.of(new Lease(ID, TOKEN)), LEASE);
    assertThat(found()).isEqualTo(expected);
    assertThat(submit("5", true).version()).isEqualTo(version("4"));
    assertThat(store.cancel(bucket, ID, null).version()).isEqualTo(expected);
    nowIs(NOW + LEASE.toMillis() + 1);
    store.expire(bucket, 1);
    changed(found());
    assertThat(held.version()).isEqualTo(expected - 1);

    assertThat(store.cancel(bucket, ID, version("4")).version()).isEqualTo(expected + 1);
    assertThat(found()).isZero();
    // Another job of that id begins anew, with another incarnation.
    assertThat(submit("6", false).version()).isEqualTo(new JobVersion("i-6", 1));
  }

  @Test
  void aFirstClaimAndItsAckWriteNothingMore() {
    submit("1", false);
    ClaimedJob job =
        store.claim(bucket, 1, LEASE, JobStore.ClaimMode.PUSH, TOKEN, "me").jobs().get(0);
    assertThat(job.version()).isEqualTo(2);
    assertThat(reader.read(bucket).values("tries")).isEmpty();
    store.settle(
        bucket,
        List.of(
            new Settlement(
                Settlement.Op.DONE, ID, "i-1", TOKEN, Duration.ZERO, false, new byte[0])));
    assertThat(reader.read(bucket).values("tries")).isEmpty();
  }
}
