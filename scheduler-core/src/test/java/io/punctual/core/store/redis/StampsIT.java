package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.IndexTags;
import io.punctual.core.store.query.BucketStats;
import io.punctual.core.store.redis.script.Keys;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A stamp changes whenever the stats change for a reason other than time. */
class StampsIT extends TransitionTestBase {

  /** Those that only read, and the one that moves the end of a lease. */
  private static final Set<String> CHANGE_NO_STATS =
      Set.of("extend", "undoable", "find", "list", "tagged", "forecast", "stats", "usage");

  private String stamp() {
    return store.stamps(List.of(bucket)).of().get(0);
  }

  static Stream<String> calls() {
    return Calls.all().keySet().stream();
  }

  /** What {@link Calls} names, where a call of each script finds what it changes. */
  private static Stream<BucketState> states() {
    BucketState seen = changed("seen");
    return Stream.of(
        bucket(),
        bucket().delayed("the-id", NOW + 9),
        bucket().delayed("the-id", NOW - 9),
        bucket().delayed("first", NOW + 3).delayed("the-id", NOW + 9),
        seen.with("delayed", "the-id", "" + (NOW + 9)),
        seen.with("delayed", "the-id", "" + (NOW + 9)).delayed("first", NOW + 3),
        seen.with("delayed", "the-id", "" + (NOW + 9)).delayed("first", NOW - 3),
        seen.with("dead", "the-id", "" + (NOW - 9)),
        bucket().reserved("the-id", NOW + 9, HELD),
        bucket().reserved("the-id", NOW - 9, HELD),
        bucket().reserved("the-id", 3_000, HELD),
        leased(changed("the-incarnation")),
        bucket().dead("the-id", NOW - 9),
        cancelled(),
        late(),
        open());
  }

  /** A job whose 888th change was the last. */
  private static BucketState changed(String incarnation) {
    return bucket()
        .record("the-id", 3, incarnation + "\nbody")
        .tries("the-id", "0 0 0 0 0 0 1000009 888");
  }

  private static BucketState leased(BucketState job) {
    return job.with("reserved", "the-id", "" + (NOW + 9))
        .with("leases", "the-id", "the-incarnation the-token 1 0 990000 980000 889 me");
  }

  /** A job that an operation cancelled. */
  private static BucketState cancelled() {
    String kept =
        (NOW + 9)
            + " 0 0 0 0 0 0 1000009 2 0 the-operation\n"
            + BucketState.numbers(3, 500_000)
            + "i-the-id\nbody";
    return bucket()
        .tomb("the-id", NOW + RETENTION, "C", "body", NOW - 9)
        .with("cancelled", "the-id", "" + (NOW + RETENTION))
        .with("kept", "the-id", kept);
  }

  /** A job that was to start before now. */
  private static BucketState late() {
    String tag = IndexTags.notAfter(NOW - 2_000);
    return bucket()
        .delayed("the-id", NOW + 9)
        .record("the-id", 3, "i-the-id 0 - - " + tag + "\nbody")
        .with("tags", tag + " the-id", "0");
  }

  /** Hands out its jobs until another opening is computed. */
  private static BucketState open() {
    return bucket()
        .delayed("the-id", NOW + 9)
        .with("control", "hours", "the-hours")
        .with("control", "opening", "0 2000000 0 2000000");
  }

  @ParameterizedTest
  @MethodSource("calls")
  void whatChangesTheStatsChangesTheStamp(String call) {
    List<String> missed = new ArrayList<>();
    List<String> changed = new ArrayList<>();
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

              BucketStats after = store.stats(bucket);
              if (!after.equals(before)) {
                changed.add(before + " became " + after);
                if (stamp().equals(stamp)) {
                  missed.add(before + " became " + after);
                }
              }
            });
    assertThat(missed).isEmpty();
    if (CHANGE_NO_STATS.contains(call)) {
      assertThat(changed).isEmpty();
    } else {
      assertThat(changed).isNotEmpty();
    }
  }

  @Test
  void timeAloneChangesNoStampWhileNoJobIsDue() {
    given(bucket().delayed("a", NOW + 3_600_002).dead("x", NOW));
    String stamp = stamp();

    nowIs(NOW + 3_600_001);

    assertThat(store.stats(bucket).deadInHour()).isZero();
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
