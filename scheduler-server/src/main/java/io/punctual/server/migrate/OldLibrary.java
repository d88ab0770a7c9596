package io.punctual.server.migrate;

import io.punctual.wire.Limits;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;

/** A library that keeps jobs in Redis, by a sorted set of their due times. */
enum OldLibrary {
  /** The delayed queue of Redisson 3 and 4, {@code RDelayedQueue}. */
  REDISSON {
    @Override
    String sortedSet(String queue) {
      return prefixed("redisson_delay_queue_timeout", queue);
    }

    @Override
    String list(String queue) {
      return prefixed("redisson_delay_queue", queue);
    }

    // As Redisson does, so that all keys of a queue are in one slot.
    private static String prefixed(String prefix, String queue) {
      return queue.contains("{") ? prefix + ":" + queue : prefix + ":{" + queue + "}";
    }

    // By struct.pack('Bc0Lc0') of Lua: a byte, so many random bytes, eight bytes, so many bytes.
    @Override
    OldJob read(UnifiedJedis redis, String queue, double score, byte[] entry, PayloadFormat format)
        throws UnreadableException {
      ByteBuffer packed = ByteBuffer.wrap(entry).order(ByteOrder.LITTLE_ENDIAN);
      int random = packed.hasRemaining() ? packed.get() & 0xff : 0;
      if (packed.remaining() < random + Long.BYTES) {
        throw new UnreadableException("is no entry of a delayed queue of Redisson");
      }
      packed.position(packed.position() + random);
      if (packed.getLong() != packed.remaining()) {
        throw new UnreadableException("is no entry of a delayed queue of Redisson");
      }
      byte[] value = new byte[packed.remaining()];
      packed.get(value);
      return new OldJob(
          OldIds.of("redisson", entry), (long) score, format.text(value), Map.of(), List.of());
    }
  },
  /**
   * A queue of BullMQ; its name is that of its keys, with the prefix, such as {@code bull:mail}.
   */
  BULLMQ {
    @Override
    String sortedSet(String queue) {
      return queue + ":delayed";
    }

    @Override
    OldWork read(UnifiedJedis redis, String queue, double score, byte[] entry, PayloadFormat format)
        throws UnreadableException {
      String id = new String(entry, StandardCharsets.UTF_8);
      String hash = hash(queue, id);
      List<String> fields = redis.hmget(hash, "data", "name", "rjk", "parentKey", "deid");
      String data = fields.get(0);
      String name = fields.get(1);
      // BullMQ counts jobs by queue where they have no id of the application's.
      boolean own = Limits.isTaskId(id) && !NUMBER.matcher(id).matches();
      String moved =
          own ? id : OldIds.of("bullmq", (queue + " ").getBytes(StandardCharsets.UTF_8), entry);
      if (data == null || name == null) {
        return new OldWork.Removed(moved);
      }
      if (fields.get(2) != null || id.startsWith("repeat:")) {
        throw new UnreadableException(
            "is made by a job scheduler of BullMQ: make a recurring schedule, and remove it there");
      }
      if (fields.get(3) != null) {
        throw new UnreadableException("is a child of the flow " + fields.get(3));
      }
      List<String> keys = new ArrayList<>(List.of(hash, hash + ":logs"));
      String once = queue + ":de:" + fields.get(4);
      if (fields.get(4) != null && id.equals(redis.get(once))) {
        // Else BullMQ would take no other job with this deduplication id.
        keys.add(once);
      }
      // The lower twelve bits of the score count jobs of one millisecond.
      return new OldJob(moved, (long) score >> 12, data, OldIds.headers("bullmq-name", name), keys);
    }

    private static String hash(String queue, String id) {
      return queue + ":" + id;
    }
  },
  /** A sorted set that an application uses itself: members are payloads, scores are due times. */
  SORTED_SET {
    @Override
    String sortedSet(String queue) {
      return queue;
    }

    @Override
    OldJob read(UnifiedJedis redis, String queue, double score, byte[] entry, PayloadFormat format)
        throws UnreadableException {
      long due = Math.round(format.seconds() ? 1_000 * score : score);
      byte[] at = (due + " ").getBytes(StandardCharsets.UTF_8);
      // The same payload may be there again later, for another time.
      return new OldJob(
          OldIds.of("moved", at, entry), due, format.text(entry), Map.of(), List.of());
    }
  };

  private static final Pattern NUMBER = Pattern.compile("\\d+");

  /** The library of that name, such as {@code sorted-set}. */
  static Optional<OldLibrary> named(String name) {
    return Arrays.stream(values()).filter(library -> library.word().equals(name)).findFirst();
  }

  /** The name on the command line. */
  String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The key of the sorted set in which entries wait. */
  abstract String sortedSet(String queue);

  /** The key of a list that has the same entries; null if there is none. */
  @Nullable String list(String queue) {
    return null;
  }

  /**
   * Reads an entry that was taken out of the sorted set.
   *
   * @throws UnreadableException if Punctual cannot take it over
   */
  abstract OldWork read(
      UnifiedJedis redis, String queue, double score, byte[] entry, PayloadFormat format)
      throws UnreadableException;
}
