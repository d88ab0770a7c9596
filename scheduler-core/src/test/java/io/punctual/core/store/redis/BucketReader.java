package io.punctual.core.store.redis;

import io.punctual.core.job.Bucket;
import io.punctual.core.store.redis.script.Keys;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.resps.Tuple;

/** Writes and reads all keys of a bucket past the scripts. Bytes become characters one to one. */
final class BucketReader {

  private final UnifiedJedis redis;
  private final Keys keys;

  BucketReader(UnifiedJedis redis, Keys keys) {
    this.redis = redis;
    this.keys = keys;
  }

  void write(Bucket bucket, BucketState state) {
    state.keys().forEach((suffix, values) -> values.forEach((id, v) -> put(bucket, suffix, id, v)));
  }

  private void put(Bucket bucket, String suffix, String id, String value) {
    byte[] key = key(bucket, suffix);
    switch (suffix) {
      case "delayed", "reserved", "dead", "done", "tags", "cancelled" ->
          redis.zadd(key, Double.parseDouble(value), bytes(id));
      default -> redis.hset(key, Map.of(bytes(id), bytes(value)));
    }
  }

  BucketState read(Bucket bucket) {
    SortedMap<String, SortedMap<String, String>> all = new TreeMap<>();
    for (String suffix : Keys.SUFFIXES) {
      byte[] key = key(bucket, suffix);
      SortedMap<String, String> values = new TreeMap<>();
      switch (redis.type(key)) {
        case "none" -> {}
        case "hash" -> redis.hgetAll(key).forEach((id, value) -> values.put(text(id), text(value)));
        case "zset" -> {
          for (Tuple tuple : redis.zrangeWithScores(key, 0, -1)) {
            values.put(text(tuple.getBinaryElement()), score(tuple.getScore()));
          }
        }
        default -> values.put("(a " + redis.type(key) + ")", "");
      }
      if (!values.isEmpty()) {
        all.put(suffix, values);
      }
    }
    return new BucketState(all);
  }

  byte[] key(Bucket bucket, String suffix) {
    return bytes(keys.tag(bucket) + ":" + suffix);
  }

  private static String score(double score) {
    return score == Math.rint(score) ? Long.toString((long) score) : Double.toString(score);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }
}
