package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.conflict.OnConflict;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.Origin;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.Restored;
import io.punctual.core.store.Restored.Kind;
import io.punctual.core.store.Submission;
import io.punctual.core.store.durability.Reached;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class RestoreIT extends TransitionTestBase {

  private static final Duration WINDOW = Duration.ofMinutes(10);
  private static final String ERROR = "900000 failed retry 1 990000 2\nno";

  private void cancel(String id) {
    assertThat(store.cancel(bucket, id, null).kind()).isEqualTo(Cancelled.Kind.CANCELLED);
  }

  private Kind restore(String id) {
    return store.restore(bucket, id).kind();
  }

  private void submit(String id, String incarnation, int bytes) {
    submit(id, incarnation, bytes, OnConflict.REFUSE);
  }

  private void submit(String id, String incarnation, int bytes, OnConflict rule) {
    store.submit(
        bucket,
        List.of(
            new Submission(
                id,
                incarnation,
                Due.at(NOW + 9),
                3,
                0,
                Origin.UNKNOWN,
                List.of(),
                new byte[bytes],
                rule)));
  }

  @Test
  void theJobIsThereAsItWasWithAHigherVersion() {
    String record = BucketState.numbers(3, 500_000) + "i-a 70 - ada x y\nbody of a";
    BucketState given =
        bucket()
            .record("a", record)
            .with("delayed", "a", "2000000")
            .with("tags", "x a", "0")
            .with("tags", "y a", "0")
            .tries("a", "0 0 1 1 1 0 5 3")
            .error("a", ERROR);
    given(given);
    cancel("a");
    assertThat(reader.read(bucket).values("tags")).isEmpty();

    nowIs(NOW + 7);
    Restored restored =
        new Restored(
            Kind.RESTORED, 2_000_000, 0, new JobVersion("i-a", 5), 2_000_000L, Reached.REDIS);
    assertThat(store.restore(bucket, "a")).isEqualTo(restored);
    BucketState after =
        given
            .tries("a", "0 0 1 1 1 0 5 5")
            .with("cancelled", "a", Long.toString(NOW + 7 + WINDOW.toMillis()))
            .with("kept", "a", "- i-a")
            .counted("cancelled", 1)
            .counted("restored", 1);
    then(after);

    // The same call again.
    assertThat(store.restore(bucket, "a"))
        .isEqualTo(
            new Restored(
                Kind.RESTORED, 2_000_000, 0, new JobVersion("i-a", 5), null, Reached.REDIS));
    then(after);
  }

  @Test
  void aJobThatFellDueMeanwhileIsDueAtOnce() {
    given(bucket().delayed("a", NOW + 5));
    cancel("a");

    nowIs(NOW + 500);
    assertThat(store.restore(bucket, "a").newHead()).isEqualTo(NOW + 500);
    assertThat(store.stats(bucket).ready()).isEqualTo(1);
    assertThat(store.find(bucket, "a").orElseThrow().tries().firstDue()).isEqualTo(NOW + 500);
  }

  @Test
  void theTimeIsOverAfterTenMinutesOrWithTheTombstone() {
    given(bucket().delayed("a", NOW).delayed("b", NOW));
    cancel("a");
    assertThat(store.find(bucket, "a").orElseThrow().restorableUntil())
        .isEqualTo(NOW + WINDOW.toMillis());

    // Another engine keeps tombstones for longer.
    client.zadd(reader.key(bucket, "done"), NOW + 2.0 * WINDOW.toMillis(), bytes("a"));
    nowIs(NOW + WINDOW.toMillis());
    assertThat(restore("a")).isEqualTo(Kind.TOO_LATE);
    assertThat(store.find(bucket, "a").orElseThrow().restorableUntil()).isNull();
    // The next cancel removes what was kept.
    cancel("b");
    assertThat(reader.read(bucket).values("kept")).containsOnlyKeys("b");
    assertThat(reader.read(bucket).values("cancelled")).containsOnlyKeys("b");

    nowIs(NOW + 2 * WINDOW.toMillis());
    assertThat(restore("a")).isEqualTo(Kind.UNKNOWN);
    assertThat(restore("never")).isEqualTo(Kind.UNKNOWN);
  }

  @Test
  void anotherJobOfThatIdIsLeftAlone() {
    given(bucket().delayed("a", NOW).tomb("ran", NOW + 5, "D", "x", 1).delayed("waits", NOW));
    cancel("a");
    submit("a", "again", 3);

    assertThat(store.restore(bucket, "a"))
        .isEqualTo(
            new Restored(Kind.EXISTS, NOW + 9, 0, new JobVersion("again", 1), null, Reached.REDIS));
    assertThat(restore("waits")).isEqualTo(Kind.EXISTS);
    assertThat(restore("ran")).isEqualTo(Kind.FINISHED);

    // A purge leaves nothing, and the earlier job stays cancelled.
    store.purge(bucket, JobState.DELAYED, List.of("a"));
    assertThat(restore("a")).isEqualTo(Kind.UNKNOWN);
  }

  @Test
  void aLargeJobIsNotKeptNorIsAnEarlierOnePutBackInItsPlace() {
    given(bucket().delayed("a", NOW));
    cancel("a");
    submit("a", "again", 65_536);
    cancel("a");

    assertThat(store.find(bucket, "a").orElseThrow().restorableUntil()).isNull();
    assertThat(restore("a")).isEqualTo(Kind.TOO_LATE);
    assertThat(reader.read(bucket).values("kept")).isEmpty();
  }

  @Test
  void aJobThatWasSucceededStaysCancelled() {
    given(bucket().reserved("a", NOW + 5, HELD));
    store.cancel(bucket, "a", null, /* interrupt= */ true, "ada");
    submit("a", "again", 3, new OnConflict(OnConflict.Rule.QUEUE_ONE, null));
    nowIs(NOW + 5);
    assertThat(store.expire(bucket, 1).cancelled()).isEqualTo(1);
    assertThat(restore("a")).isEqualTo(Kind.EXISTS);

    store.purge(bucket, JobState.DELAYED, List.of("a"));
    store.find(bucket, "a").ifPresent(job -> assertThat(job.restorableUntil()).isNull());
    assertThat(restore("a")).isNotEqualTo(Kind.RESTORED);
    assertThat(reader.read(bucket).values("kept")).isEmpty();
  }

  @Test
  void aViewPromisesNoMoreThanARestoreDoes() {
    given(bucket().delayed("short", NOW).delayed("other", NOW).delayed("undone", NOW));
    cancel("short");
    client.zadd(reader.key(bucket, "done"), NOW + 60_000.0, bytes("short"));
    assertThat(store.find(bucket, "short").orElseThrow().restorableUntil()).isEqualTo(NOW + 60_000);

    cancel("other");
    String kept = reader.read(bucket).values("kept").get("other");
    client.hset(
        reader.key(bucket, "kept"), bytes("other"), bytes(kept.replace("i-other", "i-older")));
    cancel("undone");
    client.hset(reader.key(bucket, "kept"), bytes("undone"), bytes("- i-undone"));
    for (String id : List.of("other", "undone")) {
      assertThat(store.find(bucket, id).orElseThrow().restorableUntil()).isNull();
      assertThat(restore(id)).isEqualTo(Kind.TOO_LATE);
    }
  }

  @Test
  void theLastThousandAreKept() {
    for (int i = 0; i < 1001; i++) {
      nowIs(NOW + i);
      submit("j" + i, "i" + i, 1);
      cancel("j" + i);
    }
    assertThat(reader.read(bucket).values("kept")).hasSize(1000);
    assertThat(reader.read(bucket).values("cancelled")).hasSize(1000);
    assertThat(restore("j0")).isEqualTo(Kind.TOO_LATE);
    assertThat(restore("j1")).isEqualTo(Kind.RESTORED);
  }

  @Test
  void anAttemptThatIsToStopGoesOn() {
    BucketState runs = bucket().reserved("a", NOW + 5, HELD).reserved("b", NOW + 5, HELD);
    given(runs);
    store.cancel(bucket, "a", null, /* interrupt= */ true, "ada");
    store.cancel(bucket, "b", null, /* interrupt= */ true, null);

    Restored restored =
        new Restored(Kind.RESTORED, 980_000, 1, new JobVersion("i-a", 2), null, Reached.REDIS);
    for (int i = 0; i < 2; i++) {
      assertThat(store.restore(bucket, "a")).isEqualTo(restored);
    }
    assertThat(restore("b")).isEqualTo(Kind.RESTORED);
    then(
        runs.with("cancelled", "a", "1600000")
            .with("kept", "a", "- i-a")
            .with("cancelled", "b", "1600000")
            .with("kept", "b", "- i-b"));
  }

  @Test
  void aJobWhoseAttemptStoppedRunsAgain() {
    given(bucket().reserved("a", NOW + 5, HELD));
    store.cancel(bucket, "a", null, /* interrupt= */ true, "ada");
    nowIs(NOW + 5);
    assertThat(store.expire(bucket, 1).cancelled()).isEqualTo(1);

    assertThat(restore("a")).isEqualTo(Kind.RESTORED);
    assertThat(store.find(bucket, "a").orElseThrow().version()).isEqualTo(4);
    assertThat(store.stats(bucket).ready()).isEqualTo(1);
  }

  @Test
  void whatIsKeptAndCannotBeReadIsTooLate() {
    for (String text : List.of("", "nonsense", "5 0 0 0 0 0 0 5 2 999\nshort", "- x")) {
      given(
          bucket()
              .tomb("a", NOW + 5, "C", "x", 1)
              .with("cancelled", "a", "1000001")
              .with("kept", "a", text));
      assertThat(restore("a")).isEqualTo(Kind.TOO_LATE);
    }
  }

  @Test
  void aJobIsCancelledAndRestoredAgainAndAgain() {
    given(bucket().delayed("a", NOW));
    for (int i = 1; i < 4; i++) {
      cancel("a");
      JobVersion version = Objects.requireNonNull(store.restore(bucket, "a").version());
      assertThat(version.number()).isEqualTo(1 + 2L * i);
    }
  }
}
