package io.punctual.core.store.redis;

import static io.punctual.core.store.redis.BucketState.bucket;
import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.conflict.OnConflict;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.Origin;
import io.punctual.core.job.UndoLimits;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Restored;
import io.punctual.core.store.Restored.Kind;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Submission;
import io.punctual.core.store.durability.Reached;
import io.punctual.core.store.query.Cursor;
import io.punctual.core.store.query.Undoable;
import io.punctual.core.store.query.Undoable.Outcome;
import io.punctual.core.store.redis.script.LuaScript;
import io.punctual.core.store.redis.script.StoreOptions;
import io.punctual.test.redis.RedisExtension;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

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
    assertThat(restore("a")).isEqualTo(Kind.TOO_LARGE);
    assertThat(reader.read(bucket).values("kept")).containsExactly(Map.entry("a", "+ again"));

    client.zadd(reader.key(bucket, "done"), NOW + 2.0 * WINDOW.toMillis(), bytes("a"));
    nowIs(NOW + WINDOW.toMillis());
    assertThat(restore("a")).isEqualTo(Kind.TOO_LATE);
  }

  @Test
  void aJobOfTheLargestSizeIsKept() {
    int head = BucketState.numbers(3, NOW).length() + "i-a\n".length();
    submit("a", "i-a", UndoLimits.BYTES - head);
    cancel("a");
    assertThat(restore("a")).isEqualTo(Kind.RESTORED);
    submit("b", "i-b", UndoLimits.BYTES - head + 1);
    cancel("b");
    assertThat(restore("b")).isEqualTo(Kind.TOO_LARGE);
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
      assertThat(restore(id)).isEqualTo(Kind.NOT_KEPT);
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
    assertThat(restore("j0")).isEqualTo(Kind.NOT_KEPT);
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

  private void cancelIn(String operation, String... ids) {
    for (String id : ids) {
      assertThat(store.cancel(bucket, id, null, false, "ada", operation).kind())
          .isEqualTo(Cancelled.Kind.CANCELLED);
    }
  }

  private static Undoable.Item item(String id, long until, Outcome outcome) {
    return new Undoable.Item(id, until, outcome);
  }

  @Test
  void whatIsKeptNamesTheOperationAndComesBackTogether() {
    BucketState given =
        bucket().delayed("a", NOW + 5).delayed("b", NOW + 5).delayed("c", NOW + 5).delayed("d", 5);
    given(given);
    cancelIn("op-1", "a", "b");
    cancelIn("op-2", "c");
    cancel("d");
    long until = NOW + WINDOW.toMillis();
    assertThat(reader.read(bucket).values("cancelled"))
        .containsEntry("a", "1000000001600000")
        .containsEntry("d", "1600000");
    assertThat(reader.read(bucket).values("kept").get("a"))
        .startsWith("1000005 0 0 0 0 0 0 1000005 2 0 op-1\n");
    assertThat(store.find(bucket, "a").orElseThrow().restorableUntil()).isEqualTo(until);

    assertThat(store.undoable(bucket, "op-1", null, 200))
        .isEqualTo(
            new Undoable(
                List.of(item("a", until, Outcome.RESTORED), item("b", until, Outcome.RESTORED)),
                null));
    // A page at a time; each looks at what other operations cancelled, too.
    Undoable first = store.undoable(bucket, "op-2", null, 2);
    assertThat(first).isEqualTo(new Undoable(List.of(), new Cursor(until, "b")));
    assertThat(store.undoable(bucket, "op-2", first.next(), 1))
        .isEqualTo(new Undoable(List.of(item("c", until, Outcome.RESTORED)), null));

    assertThat(store.restore(bucket, "c", "op-1").kind()).isEqualTo(Kind.CHANGED);
    assertThat(store.restore(bucket, "d", "op-1").kind()).isEqualTo(Kind.CHANGED);
    // A list that goes on does not meet again what was restored meanwhile.
    nowIs(NOW + 7);
    for (int i = 0; i < 2; i++) {
      assertThat(store.restore(bucket, "a", "op-1").kind()).isEqualTo(Kind.RESTORED);
    }
    assertThat(reader.read(bucket).values("kept")).containsEntry("a", "- i-a op-1");
    assertThat(store.undoable(bucket, "op-1", null, 200).items())
        .containsExactly(item("a", until, Outcome.UNDONE), item("b", until, Outcome.RESTORED));
  }

  @Test
  void aListOfAnOperationSaysWhatCannotBeRestored() {
    given(
        bucket()
            .delayed("again", NOW)
            .delayed("kept", NOW)
            .delayed("odd", NOW)
            .delayed("purged", NOW)
            .delayed("ran", NOW)
            .delayed("short", NOW));
    submit("large", "i-large", UndoLimits.BYTES);
    cancelIn("op", "again", "kept", "large", "odd", "purged", "ran", "short");
    submit("again", "other", 1);
    submit("purged", "other", 1);
    store.purge(bucket, JobState.DELAYED, List.of("purged"));
    store.restore(bucket, "ran");
    store.claim(bucket, 1, LEASE, JobStore.ClaimMode.PUSH, TOKEN, "me");
    store.settle(
        bucket,
        List.of(
            new Settlement(Settlement.Op.DONE, "ran", "i-ran", TOKEN, null, false, new byte[0])));
    client.hset(reader.key(bucket, "kept"), bytes("odd"), bytes("+ older op"));
    client.zadd(reader.key(bucket, "cancelled"), 1_000_000_001_000_000.0, bytes("short"));

    long until = NOW + WINDOW.toMillis();
    assertThat(store.undoable(bucket, "op", null, 200).items())
        .containsExactly(
            item("again", until, Outcome.EXISTS),
            item("kept", until, Outcome.RESTORED),
            item("large", until, Outcome.TOO_LARGE),
            item("odd", until, Outcome.NOT_KEPT),
            item("purged", until, Outcome.UNKNOWN),
            item("ran", until, Outcome.FINISHED));
    assertThat(store.undoable(bucket, "none", null, 200).items()).isEmpty();
  }

  @Test
  void cancelsOfSingleJobsDoNotPushOutWhatAnOperationCancelled() {
    submit("many", "i-many", 1);
    cancelIn("op", "many");
    for (int i = 0; i <= UndoLimits.JOBS; i++) {
      submit("j" + i, "i" + i, 1);
      cancel("j" + i);
    }
    assertThat(reader.read(bucket).values("kept")).hasSize(UndoLimits.JOBS + 1);
    assertThat(store.restore(bucket, "many", "op").kind()).isEqualTo(Kind.RESTORED);

    // What is over goes with later cancels, single or not.
    nowIs(NOW + WINDOW.toMillis());
    for (int i = 0; i < 31; i++) {
      submit("k" + i, "k" + i, 1);
      cancel("k" + i);
    }
    assertThat(reader.read(bucket).values("kept")).hasSize(31);
  }

  @Test
  void theLastOnesOfOperationsAreKept() {
    byte[] cancelled = reader.key(bucket, "cancelled");
    Map<byte[], Double> others = new HashMap<>();
    for (int i = 0; i < UndoLimits.JOBS_OF_OPERATIONS; i++) {
      others.put(bytes("o" + i), 1_000_000_001_000_001.0 + i);
    }
    client.zadd(cancelled, others);
    submit("many", "i-many", 1);
    submit("single", "i-single", 1);
    cancel("single");
    cancelIn("op", "many");
    assertThat(client.zcard(cancelled)).isEqualTo(UndoLimits.JOBS_OF_OPERATIONS + 1L);
    assertThat(client.zscore(cancelled, bytes("o0"))).isNull();
    assertThat(client.zscore(cancelled, bytes("o1"))).isNotNull();
    assertThat(restore("single")).isEqualTo(Kind.RESTORED);
    assertThat(restore("many")).isEqualTo(Kind.RESTORED);
  }

  @Test
  void anOperationLeavesAnAttemptAloneThatIsToStop() {
    given(bucket().reserved("a", NOW + 5, HELD));
    store.cancel(bucket, "a", null, /* interrupt= */ true, "ada");
    assertThat(store.restore(bucket, "a", "op").kind()).isEqualTo(Kind.EXISTS);
    assertThat(store.find(bucket, "a").orElseThrow().cancelling()).isTrue();
  }

  @Test
  void nothingIsKeptForLongerThanItsTombstone() {
    byte[] tombstones = reader.key(bucket, "done");
    given(bucket().delayed("a", NOW).delayed("b", NOW));
    JedisConnectionFactory connections =
        new JedisConnectionFactory(
            new RedisStandaloneConfiguration(
                RedisExtension.redis().host(), RedisExtension.redis().port()));
    connections.afterPropertiesSet();
    connections.start();
    StoreOptions options = new StoreOptions("punctual", Duration.ofMinutes(1));
    JobStore brief = RedisStore.connect(connections, options, TEST_CLOCK).jobs();
    assertThat(brief.cancel(bucket, "a", null).kind()).isEqualTo(Cancelled.Kind.CANCELLED);
    assertThat(client.zscore(tombstones, bytes("a"))).isEqualTo(NOW + 60_000.0);
    assertThat(reader.read(bucket).values("cancelled")).containsEntry("a", "1060000");
    assertThat(timeToLive("kept")).isBetween(1L, 60_000L);
    assertThat(timeToLive("cancelled")).isBetween(1L, 60_000L);

    // The one that is kept longest decides, single or not.
    cancelIn("op", "b");
    assertThat(timeToLive("kept")).isBetween(540_000L, 600_000L);
    assertThat(brief.restore(bucket, "a").kind()).isEqualTo(Kind.RESTORED);
    assertThat(brief.cancel(bucket, "a", null).kind()).isEqualTo(Cancelled.Kind.CANCELLED);
    assertThat(timeToLive("kept")).isBetween(540_000L, 600_000L);
    connections.destroy();
  }

  @Test
  void theScriptsHaveTheFiguresOfUndoLimits() {
    assertThat(LuaScript.read("lib/kept"))
        .contains(
            "local KEPT_MS, MOST_KEPT, MOST_OPERATED, MOST_BYTES = %d, %d, %d, %d\n"
                .formatted(
                    UndoLimits.TIME.toMillis(),
                    UndoLimits.JOBS,
                    UndoLimits.JOBS_OF_OPERATIONS,
                    UndoLimits.BYTES));
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
