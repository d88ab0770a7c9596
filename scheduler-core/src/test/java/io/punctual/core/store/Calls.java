package io.punctual.core.store;

import io.punctual.core.job.Due;
import io.punctual.core.job.JobState;
import io.punctual.core.queue.Bucket;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;

/** Every call of the store by the name of its script, with values that can be told apart. */
final class Calls {

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
                        CONTENT,
                        /* replace= */ true))));
    calls.put(
        "claim",
        (store, bucket) -> store.claim(bucket, 33, Duration.ofMillis(444), TOKEN, "the-owner"));
    calls.put(
        "settle",
        (store, bucket) ->
            store.settle(
                bucket,
                List.of(
                    new Settlement(
                        Settlement.Op.FAIL,
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
    calls.put("expire", (store, bucket) -> store.expire(bucket, 33));
    calls.put("cancel", (store, bucket) -> store.cancel(bucket, "the-id"));
    calls.put("reschedule", (store, bucket) -> store.reschedule(bucket, "the-id", Due.in(111)));
    calls.put(
        "requeue",
        (store, bucket) -> store.requeue(bucket, List.of("the-id"), Duration.ofMillis(555)));
    calls.put("purge", (store, bucket) -> store.purge(bucket, JobState.DEAD, List.of("the-id")));
    calls.put("find", (store, bucket) -> store.find(bucket, "the-id"));
    calls.put(
        "list",
        (store, bucket) -> store.list(bucket, JobState.DEAD, new Cursor(777, "the-last"), 33));
    calls.put("stats", (store, bucket) -> store.stats(bucket));
    return calls;
  }
}
