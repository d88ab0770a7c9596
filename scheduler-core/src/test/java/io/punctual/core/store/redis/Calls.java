package io.punctual.core.store.redis;

import io.punctual.conflict.OnConflict;
import io.punctual.core.job.Bucket;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.Opening;
import io.punctual.core.job.Origin;
import io.punctual.core.job.Pause;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.ClockJump;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Lease;
import io.punctual.core.store.Requeue;
import io.punctual.core.store.Revision;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.Submission;
import io.punctual.core.store.query.Cursor;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;

/** Every call of the store by the name of its script, with values that can be told apart. */
final class Calls {

  private static final Origin ORIGIN = new Origin("the-trace", "the-submitter");
  private static final byte[] CONTENT = BucketReader.bytes("the content");
  private static final byte[] NOTE = BucketReader.bytes("the note");
  private static final LeaseToken TOKEN = new LeaseToken("the-token");

  private Calls() {}

  static void make(String script, JobStore store, Bucket bucket) {
    Objects.requireNonNull(all().get(script), script).accept(store, bucket);
  }

  static Map<String, BiConsumer<JobStore, Bucket>> all() {
    Map<String, BiConsumer<JobStore, Bucket>> calls = new LinkedHashMap<>();
    calls.put(
        "submit",
        (store, bucket) ->
            store.submit(
                bucket,
                List.of(
                    new Submission(
                        "the-id",
                        "the-incarnation",
                        Due.in(111),
                        22,
                        66,
                        ORIGIN,
                        List.of("y", "x"),
                        CONTENT,
                        OnConflict.REPLACE))));
    calls.put(
        "claim",
        (store, bucket) ->
            store.claim(
                bucket, 33, Duration.ofMillis(444), JobStore.ClaimMode.OWN, TOKEN, "the-owner"));
    calls.put(
        "settle",
        (store, bucket) ->
            store.settle(
                bucket,
                List.of(
                    new Settlement(
                        Settlement.Op.FAILED,
                        "the-id",
                        "the-incarnation",
                        TOKEN,
                        Duration.ofMillis(555),
                        /* alone= */ true,
                        NOTE))));
    calls.put(
        "extend",
        (store, bucket) ->
            store.extend(bucket, List.of(new Lease("the-id", TOKEN)), Duration.ofMillis(444)));
    calls.put(
        "expire", (store, bucket) -> store.expire(bucket, 33, 3333, new ClockJump(4444, 5555)));
    calls.put("lapse", (store, bucket) -> store.lapse(bucket, 33));
    calls.put("expiry", (store, bucket) -> store.dropExpired(bucket, true));
    calls.put("hours", (store, bucket) -> store.hours(bucket, "the-hours"));
    calls.put(
        "opening",
        (store, bucket) -> store.opening(bucket, "the-hours", new Opening(666, 667, 668, 669)));
    calls.put(
        "cancel",
        (store, bucket) ->
            store.cancel(
                bucket, "the-id", new JobVersion("seen", 888), true, "the-actor", "the-operation"));
    calls.put("restore", (store, bucket) -> store.restore(bucket, "the-id", "the-operation"));
    calls.put(
        "undoable",
        (store, bucket) ->
            store.undoable(bucket, "the-operation", new Cursor(777, "the-last"), 33));
    calls.put(
        "revise",
        (store, bucket) ->
            store.revise(
                bucket,
                "the-id",
                new Revision(
                    Due.in(111),
                    new Revision.NewContent(
                        "the-incarnation", 22, 66, ORIGIN, List.of("y", "x"), CONTENT),
                    new JobVersion("seen", 888))));
    calls.put(
        "requeue",
        (store, bucket) ->
            store.requeue(
                bucket,
                List.of(new Requeue("the-id", new JobVersion("seen", 888))),
                Duration.ofMillis(555)));
    calls.put("purge", (store, bucket) -> store.purge(bucket, JobState.DEAD, List.of("the-id")));
    calls.put("find", (store, bucket) -> store.find(bucket, "the-id"));
    calls.put(
        "list",
        (store, bucket) ->
            store.list(bucket, JobState.DEAD, true, new Cursor(777, "the-last"), 33));
    calls.put("tagged", (store, bucket) -> store.tagged(bucket, "the-tag", "the-last", 33));
    calls.put(
        "pause",
        (store, bucket) ->
            store.pause(
                bucket,
                Pause.Scope.APPLICATION,
                new Pause.Terms("the-operator", "the reason", Duration.ofMillis(333))));
    calls.put(
        "limit",
        (store, bucket) ->
            store.limit(bucket, new Throttle(77, new Throttle.Rate(88, Duration.ofMillis(999)))));
    calls.put("forecast", (store, bucket) -> store.forecast(bucket, Duration.ofMillis(999), 44));
    calls.put("stats", (store, bucket) -> store.stats(bucket));
    calls.put("usage", (store, bucket) -> store.usage(bucket));
    return calls;
  }
}
