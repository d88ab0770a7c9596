package io.punctual.test.store;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.redis.script.TimeSource;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.resps.Tuple;

/**
 * Reads the complete contents of a bucket from Redis, and moves the clock that its scripts see. For
 * queues whose names need no encoding.
 */
public final class RedisBucketReader {

  /**
   * Lets scripts take the time from a key which {@link #setTime} writes. Keys do not expire: Redis
   * expires them by its own clock, and a slow machine would lose what is there by the moved one.
   */
  public static final TimeSource MOVABLE_TIME =
      new TimeSource(
          """
          local function now_ms()
            return tonumber(redis.call('GET', KEYS[#KEYS]))
          end
          local real = redis
          local redis = setmetatable({
            call = function(command, ...)
              return command ~= 'PEXPIRE' and real.call(command, ...)
            end,
          }, { __index = real })
          """,
          "now");

  private final Jedis redis;
  private final String tag;
  private final String events;

  /**
   * @param prefix of the store's keys
   */
  public RedisBucketReader(Jedis redis, String prefix, Bucket bucket) {
    this.redis = redis;
    this.tag =
        prefix
            + ":{"
            + bucket.queue().application()
            + ":"
            + bucket.queue().taskType()
            + ":"
            + bucket.index()
            + "}:";
    this.events = prefix + ":{events:" + bucket.queue().application() + "}:";
  }

  /** Sets the time that scripts on this bucket and its application's events see. */
  public void setTime(long millis) {
    redis.set(tag + "now", Long.toString(millis));
    redis.set(events + "now", Long.toString(millis));
  }

  /** Takes a job's record away, as no script ever does. */
  public void loseRecord(String taskId) {
    redis.hdel(tag + "jobs", taskId);
  }

  /** Removes the bucket, and the events that its application remembers. */
  public void clear() {
    redis.del(
        tag + "jobs",
        tag + "delayed",
        tag + "reserved",
        tag + "dead",
        tag + "leases",
        tag + "tries",
        tag + "errors",
        tag + "done",
        tag + "tombs",
        tag + "stats",
        tag + "tags",
        tag + "control",
        tag + "next",
        tag + "cancelled",
        tag + "kept",
        tag + "now");
    redis.del(events + "memory", events + "now");
  }

  /** The complete contents, in one round trip. */
  public BucketContents read() {
    try (Pipeline pipeline = redis.pipelined()) {
      Response<Map<byte[], byte[]>> jobs =
          pipeline.hgetAll((tag + "jobs").getBytes(StandardCharsets.UTF_8));
      Response<List<Tuple>> delayed = sorted(pipeline, "delayed");
      Response<List<Tuple>> reserved = sorted(pipeline, "reserved");
      Response<List<Tuple>> dead = sorted(pipeline, "dead");
      Response<Map<String, String>> leases = pipeline.hgetAll(tag + "leases");
      Response<Map<String, String>> tries = pipeline.hgetAll(tag + "tries");
      Response<Map<String, String>> errors = pipeline.hgetAll(tag + "errors");
      Response<List<Tuple>> done = sorted(pipeline, "done");
      Response<Map<String, String>> tombs = pipeline.hgetAll(tag + "tombs");
      Response<Map<String, String>> stats = pipeline.hgetAll(tag + "stats");
      Response<List<Tuple>> tags = sorted(pipeline, "tags");
      Response<Map<String, String>> control = pipeline.hgetAll(tag + "control");
      Response<Map<byte[], byte[]>> next =
          pipeline.hgetAll((tag + "next").getBytes(StandardCharsets.UTF_8));
      Response<List<Tuple>> cancelled = sorted(pipeline, "cancelled");
      Response<Map<byte[], byte[]>> kept =
          pipeline.hgetAll((tag + "kept").getBytes(StandardCharsets.UTF_8));
      pipeline.sync();
      return new BucketContents(
          records(jobs.get()),
          scores(delayed),
          scores(reserved),
          scores(dead),
          leases.get(),
          tries.get(),
          errors.get(),
          scores(done),
          tombs.get(),
          stats.get(),
          scores(tags),
          control.get(),
          records(next.get()),
          scores(cancelled),
          records(kept.get()));
    }
  }

  private Response<List<Tuple>> sorted(Pipeline pipeline, String key) {
    return pipeline.zrangeWithScores(tag + key, 0, -1);
  }

  // Records hold bytes that are no text.
  private static Map<String, String> records(Map<byte[], byte[]> records) {
    Map<String, String> texts = new HashMap<>();
    records.forEach(
        (id, record) ->
            texts.put(
                new String(id, StandardCharsets.UTF_8),
                new String(record, StandardCharsets.ISO_8859_1)));
    return texts;
  }

  private static Map<String, Long> scores(Response<List<Tuple>> tuples) {
    Map<String, Long> scores = new TreeMap<>();
    for (Tuple tuple : tuples.get()) {
      scores.put(tuple.getElement(), (long) tuple.getScore());
    }
    return scores;
  }
}
