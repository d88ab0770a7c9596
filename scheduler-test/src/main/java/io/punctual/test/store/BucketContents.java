package io.punctual.test.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * All keys of a bucket, as docs/redis-keys.md names them; scores as numbers, values as text. Equal
 * means: the store knows exactly the same.
 */
public record BucketContents(
    Map<String, String> jobs,
    Map<String, Long> delayed,
    Map<String, Long> reserved,
    Map<String, Long> dead,
    Map<String, String> leases,
    Map<String, String> tries,
    Map<String, String> errors,
    Map<String, Long> done,
    Map<String, String> tombs,
    Map<String, String> stats,
    Map<String, Long> tags,
    Map<String, String> control,
    Map<String, String> next,
    Map<String, Long> cancelled,
    Map<String, String> kept) {

  /** Copies, so that a later change of the store does not change this. */
  public BucketContents {
    jobs = new TreeMap<>(jobs);
    delayed = new TreeMap<>(delayed);
    reserved = new TreeMap<>(reserved);
    dead = new TreeMap<>(dead);
    leases = new TreeMap<>(leases);
    tries = new TreeMap<>(tries);
    errors = new TreeMap<>(errors);
    done = new TreeMap<>(done);
    tombs = new TreeMap<>(tombs);
    stats = new TreeMap<>(stats);
    tags = new TreeMap<>(tags);
    control = new TreeMap<>(control);
    next = new TreeMap<>(next);
    cancelled = new TreeMap<>(cancelled);
    kept = new TreeMap<>(kept);
  }

  /** The keys in which the other differs, with both values. */
  public List<String> differences(BucketContents other) {
    List<String> found = new ArrayList<>();
    compare(found, "jobs", jobs, other.jobs);
    compare(found, "delayed", delayed, other.delayed);
    compare(found, "reserved", reserved, other.reserved);
    compare(found, "dead", dead, other.dead);
    compare(found, "leases", leases, other.leases);
    compare(found, "tries", tries, other.tries);
    compare(found, "errors", errors, other.errors);
    compare(found, "done", done, other.done);
    compare(found, "tombs", tombs, other.tombs);
    compare(found, "stats", stats, other.stats);
    compare(found, "tags", tags, other.tags);
    compare(found, "control", control, other.control);
    compare(found, "next", next, other.next);
    compare(found, "cancelled", cancelled, other.cancelled);
    compare(found, "kept", kept, other.kept);
    return found;
  }

  private static void compare(List<String> found, String key, Map<?, ?> one, Map<?, ?> other) {
    if (!one.equals(other)) {
      found.add(key + ": " + one + " / " + other);
    }
  }
}
