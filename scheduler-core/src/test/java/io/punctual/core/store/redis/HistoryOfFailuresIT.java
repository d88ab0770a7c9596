package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.ErrorNote;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Settlement.Op;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.redis.script.Keys;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class HistoryOfFailuresIT extends TransitionTestBase {

  private static final String OLD = "900000 unknown retry 1 890000 3\na\nb";

  private void failWith(byte[] note) {
    store.settle(
        bucket, List.of(new Settlement(Op.FAILED, "a", "i-a", TOKEN, Duration.ZERO, false, note)));
  }

  private void givenErrors(String errors) {
    given(
        bucket()
            .reserved("a", NOW + 5, "t-1 2 0 990000 980000 2 me")
            .record("a", 99, "i-a\nbody of a")
            .tries("a", "0 1 0 0 1 1 5 3")
            .error("a", errors));
  }

  private String errors() {
    return reader.read(bucket).values("errors").getOrDefault("a", "");
  }

  @Test
  void theNewestComesFirst() {
    givenErrors(OLD);
    failWith(bytes("no\n"));

    assertThat(errors()).isEqualTo("1000000 failed retry 2 990000 3\nno\n" + OLD);
    List<JobView.Failure> found = store.find(bucket, "a").orElseThrow().failures();
    assertThat(found).extracting(JobView.Failure::kind).containsExactly("failed", "unknown");
    assertThat(found.get(1).note()).isEqualTo(new ErrorNote("a", "b"));
    assertThat(found.get(1).startedAt()).isEqualTo(890_000);
  }

  @Test
  void tenAreKept() {
    givenErrors(OLD.repeat(10));
    failWith(bytes("no"));

    assertThat(errors()).isEqualTo("1000000 failed retry 2 990000 2\nno" + OLD.repeat(9));
  }

  @Test
  void longOnesMakeTheOldestGo() {
    String two = "900000 failed retry 1 890000 1900\n" + "x".repeat(1900);
    givenErrors(two + two + two);
    failWith(bytes("y".repeat(201)));

    assertThat(errors()).isEqualTo("1000000 failed retry 2 990000 201\n" + "y".repeat(201) + two);
  }

  @Test
  void whatIsNoHistoryIsDropped() {
    for (String broken :
        List.of("nonsense", "900000 failed retry 1 890000 9\nshort", OLD + "rest")) {
      givenErrors(broken);
      failWith(bytes("no"));
      String kept = broken.startsWith(OLD) ? OLD : "";
      assertThat(errors()).isEqualTo("1000000 failed retry 2 990000 2\nno" + kept);
      Keys.SUFFIXES.forEach(suffix -> client.del(reader.key(bucket, suffix)));
    }
  }
}
