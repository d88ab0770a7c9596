package io.punctual.core.store.redis.script;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import io.punctual.core.schedule.ScheduleName;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Every key that we use, and the names of buckets in them. Parts are encoded, so that no two queues
 * can share a key and no name can choose its slot.
 */
public final class Keys {

  /** In the order of KEYS; lib/keys.lua names the same. */
  public static final List<String> SUFFIXES =
      List.of(
          "jobs",
          "delayed",
          "reserved",
          "dead",
          "leases",
          "tries",
          "errors",
          "done",
          "tombs",
          "stats",
          "tags",
          "control",
          "next",
          "cancelled",
          "kept");

  private static final Set<String> SORTED =
      Set.of("delayed", "reserved", "dead", "done", "tags", "cancelled");

  /** What is written when a replica is to confirm it. */
  static final String CONFIRMED = ":confirmed";

  private final String prefix;
  private final TimeSource time;
  private final Map<Bucket, List<byte[]>> known = new ConcurrentHashMap<>();

  public Keys(String prefix, TimeSource time) {
    this.prefix = prefix;
    this.time = time;
  }

  /** In the order of KEYS. */
  public List<byte[]> of(Bucket bucket) {
    return known.computeIfAbsent(bucket, this::encoded);
  }

  /** The Redis type that a key of a bucket has, by its place in KEYS. */
  static String type(int index) {
    return SORTED.contains(SUFFIXES.get(index)) ? "zset" : "hash";
  }

  private List<byte[]> encoded(Bucket bucket) {
    String tag = tag(bucket) + ":";
    List<byte[]> keys = new ArrayList<>(SUFFIXES.size() + 1);
    for (String suffix : SUFFIXES) {
      keys.add(bytes(tag + suffix));
    }
    if (!time.keySuffix().isEmpty()) {
      keys.add(bytes(tag + time.keySuffix()));
    }
    return List.copyOf(keys);
  }

  /** The part that all keys of a bucket share; the braces make it the hash tag in Redis Cluster. */
  public String tag(Bucket bucket) {
    return prefix + ":{" + name(bucket) + "}";
  }

  public byte[] queues() {
    return bytes(prefix + ":queues");
  }

  /** The pauses of applications; in the slot of {@link #queues}. */
  public List<byte[]> pauses() {
    byte[] pauses = bytes(pausesTag() + ":paused");
    return time.keySuffix().isEmpty()
        ? List.of(pauses)
        : List.of(pauses, bytes(pausesTag() + ":" + time.keySuffix()));
  }

  /** What the keys of {@link #pauses} begin with. */
  public String pausesTag() {
    return prefix + ":{" + prefix + ":queues}";
  }

  /**
   * The key of a mark.
   *
   * @param mark a hash tag; empty for the mark of the store
   */
  public byte[] epoch(String mark) {
    return bytes(prefix + ":epoch" + (mark.isEmpty() ? "" : ":{" + mark + "}"));
  }

  public byte[] calendars() {
    return bytes(prefix + ":calendars");
  }

  public byte[] workers() {
    return bytes(prefix + ":workers");
  }

  public byte[] members() {
    return bytes(prefix + ":members");
  }

  public byte[] losses() {
    return bytes(prefix + ":losses");
  }

  public byte[] journal() {
    return bytes(prefix + ":journal");
  }

  public String confirmed() {
    return prefix + CONFIRMED;
  }

  public byte[] reservedInstance(String instance) {
    return bytes(prefix + ":reserved:" + encode(instance));
  }

  public byte[] brokenInstance(String instance) {
    return bytes(prefix + ":broken:" + encode(instance));
  }

  /** The part that all keys of schedules share. */
  public String schedulesTag() {
    return prefix + ":{schedules}";
  }

  /** Those of the schedules, in the order in which their scripts name them. */
  public List<byte[]> schedules() {
    List<byte[]> all = new ArrayList<>();
    for (String suffix : List.of("definitions", "states", "looks", "names", "counts", "declared")) {
      all.add(bytes(schedulesTag() + ":" + suffix));
    }
    if (!time.keySuffix().isEmpty()) {
      all.add(bytes(schedulesTag() + ":" + time.keySuffix()));
    }
    return all;
  }

  /** The part that the keys of an application's events share. */
  public String eventsTag(String application) {
    return prefix + ":{events:" + encode(application) + "}";
  }

  /** Those of an application's events, as their scripts name them. */
  public List<byte[]> events(String application) {
    byte[] memory = bytes(eventsTag(application) + ":memory");
    return time.keySuffix().isEmpty()
        ? List.of(memory)
        : List.of(memory, bytes(eventsTag(application) + ":" + time.keySuffix()));
  }

  /**
   * All keys that jobs, schedules and events may be in.
   *
   * @param buckets of all queues that were used
   * @param marks as the store's {@code epoch()} names them
   */
  public List<byte[]> all(Collection<Bucket> buckets, Collection<String> marks) {
    List<byte[]> all = new ArrayList<>();
    marks.forEach(mark -> all.add(epoch(mark)));
    all.addAll(List.of(queues(), calendars(), workers(), members(), losses(), journal()));
    all.addAll(pauses());
    all.add(bytes(confirmed()));
    all.addAll(schedules());
    all.add(bytes(schedulesTag() + CONFIRMED));
    all.add(bytes(pausesTag() + CONFIRMED));
    for (Bucket bucket : buckets) {
      all.addAll(of(bucket));
      all.add(bytes(tag(bucket) + CONFIRMED));
    }
    buckets.stream()
        .map(bucket -> bucket.queue().application())
        .distinct()
        .forEach(application -> all.addAll(events(application)));
    return all;
  }

  public byte[] wakeUpChannel() {
    return bytes(prefix + ":wake");
  }

  public static String name(Bucket bucket) {
    return name(bucket.queue()) + ":" + bucket.index();
  }

  public static String name(QueueName queue) {
    return namesOf(queue.application()) + encode(queue.taskType());
  }

  public static String name(ScheduleName schedule) {
    return name(schedule.queue()) + ":" + encode(schedule.id());
  }

  /** Reads {@link #name(ScheduleName)} back; empty for what is none of ours. */
  public static Optional<ScheduleName> parseSchedule(String name) {
    int colon = name.lastIndexOf(':');
    if (colon < 0) {
      return Optional.empty();
    }
    try {
      return parseQueue(name.substring(0, colon))
          .map(queue -> new ScheduleName(queue, decode(name.substring(colon + 1))));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** What {@link #name(QueueName)} begins with for queues of that application alone. */
  public static String namesOf(String application) {
    return encode(application) + ":";
  }

  /** Reads {@link #name(QueueName)} back; empty for what is none of ours. */
  public static Optional<QueueName> parseQueue(String name) {
    String[] parts = name.split(":", -1);
    if (parts.length != 2) {
      return Optional.empty();
    }
    try {
      return Optional.of(new QueueName(decode(parts[0]), decode(parts[1])));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** Reads {@link #name(Bucket)} back; empty for what is none of ours. */
  public static Optional<Bucket> parseBucket(String name) {
    int colon = name.lastIndexOf(':');
    if (colon < 0 || !name.substring(colon + 1).matches("\\d{1,2}")) {
      return Optional.empty();
    }
    int index = Integer.parseInt(name.substring(colon + 1));
    return index >= Bucket.MAX_BUCKETS
        ? Optional.empty()
        : parseQueue(name.substring(0, colon)).map(queue -> new Bucket(queue, index));
  }

  private static String encode(String part) {
    return part.replace("%", "%25").replace(":", "%3A");
  }

  private static String decode(String part) {
    return part.replace("%3A", ":").replace("%25", "%");
  }

  public static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
