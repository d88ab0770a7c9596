package io.punctual.core.store.redis;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The complete contents of a bucket: by the last part of each key, by task id, the score or text as
 * stored. What a test gives, and what it expects. Immutable.
 */
record BucketState(SortedMap<String, SortedMap<String, String>> keys) {

  static BucketState bucket() {
    return new BucketState(new TreeMap<>());
  }

  /** A sound record: {@code i-<id>}, three attempts, accepted at 500,000. */
  BucketState record(String id) {
    return record(id, 3, "i-" + id + "\nbody of " + id);
  }

  /** One that was accepted at 500,000, with what stands behind the numbers. */
  BucketState record(String id, int maxAttempts, String rest) {
    return record(id, numbers(maxAttempts, 500_000) + rest);
  }

  BucketState record(String id, String text) {
    return with("jobs", id, text);
  }

  /** What stands before the incarnation. */
  static String numbers(int maxAttempts, long acceptedAt) {
    byte[] bytes = ByteBuffer.allocate(8).putLong(acceptedAt << 16 | maxAttempts).array();
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  BucketState delayed(String id, long due) {
    return record(id).with("delayed", id, Long.toString(due));
  }

  /**
   * A job of {@link #record}.
   *
   * @param lease what stands behind the incarnation
   */
  BucketState reserved(String id, long deadline, String lease) {
    return record(id)
        .with("reserved", id, Long.toString(deadline))
        .with("leases", id, "i-" + id + " " + lease);
  }

  BucketState dead(String id, long at) {
    return record(id).with("dead", id, Long.toString(at));
  }

  BucketState tries(String id, String text) {
    return with("tries", id, text);
  }

  BucketState error(String id, String text) {
    return with("errors", id, text);
  }

  /**
   * @param outcome D or C
   */
  BucketState tomb(String id, long expires, String outcome, String content, long at) {
    return tomb(id, expires, outcome, content, at, "");
  }

  /**
   * @param note of the end; empty if none is known
   */
  BucketState tomb(String id, long expires, String outcome, String content, long at, String note) {
    String named = "i-" + id + (note.isEmpty() ? "" : "," + note);
    return with("done", id, Long.toString(expires))
        .with("tombs", id, named + " " + outcome + " " + hash(content) + " " + at);
  }

  /** What a cancel of a job of {@link #record} at 1,000,000 keeps for ten minutes. */
  BucketState kept(String id, long due, String tries, String errors) {
    String record = numbers(3, 500_000) + "i-" + id + "\nbody of " + id;
    return with("cancelled", id, "1600000")
        .with("kept", id, due + " " + tries + " " + errors.length() + "\n" + errors + record);
  }

  BucketState counted(String counter, int n) {
    return with("stats", counter, Integer.toString(n));
  }

  BucketState with(String key, String id, String value) {
    BucketState copy = copy();
    copy.keys.computeIfAbsent(key, k -> new TreeMap<>()).put(id, value);
    return copy;
  }

  BucketState without(String key, String id) {
    BucketState copy = copy();
    SortedMap<String, String> values = copy.keys.get(key);
    if (values == null || values.remove(id) == null) {
      throw new IllegalArgumentException("there is no " + id + " in " + key);
    }
    if (values.isEmpty()) {
      copy.keys.remove(key);
    }
    return copy;
  }

  /** Without anything of that job, tombstones included. */
  BucketState withoutJob(String id) {
    BucketState copy = bucket();
    keys.forEach(
        (key, values) ->
            values.forEach(
                (field, value) -> {
                  if (!field.equals(id)) {
                    copy.keys.computeIfAbsent(key, k -> new TreeMap<>()).put(field, value);
                  }
                }));
    return copy;
  }

  /** By id, what one of the keys holds; empty when there is no such key. */
  SortedMap<String, String> values(String key) {
    return keys.getOrDefault(key, new TreeMap<>());
  }

  private BucketState copy() {
    SortedMap<String, SortedMap<String, String>> copy = new TreeMap<>();
    for (Map.Entry<String, SortedMap<String, String>> entry : keys.entrySet()) {
      copy.put(entry.getKey(), new TreeMap<>(entry.getValue()));
    }
    return new BucketState(copy);
  }

  private static String hash(String content) {
    try {
      byte[] sha1 =
          MessageDigest.getInstance("SHA-1").digest(content.getBytes(StandardCharsets.ISO_8859_1));
      return HexFormat.of().formatHex(sha1).substring(0, 20);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** One line for each value, so that a failed comparison reads well. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    keys.forEach(
        (key, values) ->
            values.forEach(
                (id, value) ->
                    text.append(key)
                        .append(' ')
                        .append(id)
                        .append(" = ")
                        .append(value.replace("\n", "\\n"))
                        .append('\n')));
    return text.toString();
  }
}
