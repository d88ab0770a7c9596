package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.query.BucketStats;
import io.punctual.core.store.redis.script.Keys;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A stamp changes whenever the stats change for a reason other than time. */
class StampsIT extends TransitionTestBase {

  private String stamp() {
    return store.stamps(List.of(bucket)).of().get(0);
  }

  static Stream<String> calls() {
    return Calls.all().keySet().stream();
  }

  private static Stream<BucketState> states() {
    return Stream.of(
        bucket(),
        bucket().delayed("the-id", NOW + 9),
        bucket().delayed("the-id", NOW - 9),
        bucket().delayed("first", NOW + 3).delayed("the-id", NOW + 9),
        bucket().reserved("the-id", NOW + 9, HELD),
        bucket().reserved("the-id", NOW - 9, HELD),
        bucket().dead("the-id", NOW - 9));
  }

  @ParameterizedTest
  @MethodSource("calls")
  void whatChangesTheStatsChangesTheStamp(String call) {
    List<String> missed = new ArrayList<>();
    states()
        .forEach(
            state -> {
              for (String suffix : Keys.SUFFIXES) {
                client.del(reader.key(bucket, suffix));
              }
              given(state);
              BucketStats before = store.stats(bucket);
              String stamp = stamp();
              assertThat(stamp).matches("[0-9a-f]{16}").isEqualTo(stamp());

              Calls.make(call, store, bucket);

              if (!store.stats(bucket).equals(before) && stamp().equals(stamp)) {
                missed.add(before + " became " + store.stats(bucket));
              }
            });
    assertThat(missed).isEmpty();
  }

  @Test
  void timeAloneChangesNoStamp() {
    given(bucket().delayed("a", NOW + 3).dead("x", NOW));
    String stamp = stamp();

    nowIs(NOW + 3_600_001);

    assertThat(store.stats(bucket).ready()).isEqualTo(1);
    assertThat(stamp()).isEqualTo(stamp);
    assertThat(store.stamps(List.of(bucket)).now()).isEqualTo(NOW + 3_600_001);
  }

  @Test
  void eachBucketHasItsOwn() {
    List<Bucket> many = IntStream.range(0, 9).mapToObj(i -> new Bucket(bucket.queue(), i)).toList();
    reader.write(many.get(4), bucket().delayed("a", NOW + 3));

    List<String> stamps = store.stamps(many).of();

    assertThat(stamps).hasSize(9);
    assertThat(stamps.get(4)).isNotEqualTo(stamps.get(3));
    assertThat(stamps.get(8)).isEqualTo(stamps.get(0));
  }

  @Test
  void aBucketThatCannotBeReadHasNoneAndHidesNoOther() {
    Bucket other = new Bucket(bucket.queue(), 1);
    for (String suffix : List.of("delayed", "reserved", "dead", "stats", "control")) {
      byte[] key = reader.key(bucket, suffix);
      client.rpush(key, bytes("foreign"));

      assertThat(store.stamps(List.of(bucket, other)).of())
          .as(suffix)
          .satisfiesExactly(
              first -> assertThat(first).isEmpty(), second -> assertThat(second).hasSize(16));
      client.del(key);
    }
  }
}
