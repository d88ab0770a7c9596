package io.punctual.server.migrate;

import io.punctual.wire.Limits;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
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
    OldJob read(UnifiedJedis redis, String queue, double score, byte[] entry, Format format)
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
          "redisson-" + digest(entry), (long) score, format.text(value), Map.of(), List.of());
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
    OldJob read(UnifiedJedis redis, String queue, double score, byte[] entry, Format format)
        throws UnreadableException {
      String id = new String(entry, StandardCharsets.UTF_8);
      String hash = hash(queue, id);
      List<String> fields = redis.hmget(hash, "data", "name", "rjk", "parentKey", "deid");
      String data = fields.get(0);
      String name = fields.get(1);
      if (data == null || name == null) {
        throw new UnreadableException("has no data in " + hash);
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
      // BullMQ counts jobs by queue where they have no id of the application's.
      boolean own = Limits.isTaskId(id) && !NUMBER.matcher(id).matches();
      // The lower twelve bits of the score count jobs of one millisecond.
      return new OldJob(
          own ? id : "bullmq-" + digest((queue + " ").getBytes(StandardCharsets.UTF_8), entry),
          (long) score >> 12,
          data,
          HEADER.matcher(name).matches() ? Map.of("bullmq-name", name) : Map.of(),
          keys);
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
    OldJob read(UnifiedJedis redis, String queue, double score, byte[] entry, Format format)
        throws UnreadableException {
      long due = Math.round(format.seconds() ? 1_000 * score : score);
      byte[] at = (due + " ").getBytes(StandardCharsets.UTF_8);
      // The same payload may be there again later, for another time.
      return new OldJob("moved-" + digest(at, entry), due, format.text(entry), Map.of(), List.of());
    }
  };

  private static final Pattern HEADER = Pattern.compile("[ -~]{1,200}");
  private static final Pattern NUMBER = Pattern.compile("\\d+");
  private static final int DIGEST = 16;

  /**
   * How payloads and times are read.
   *
   * @param base64 whether bytes become text as Base64; else they must be UTF-8
   * @param seconds whether the scores of a sorted set are seconds; else they are ms
   */
  record Format(boolean base64, boolean seconds) {

    private String text(byte[] bytes) throws UnreadableException {
      if (base64) {
        return Base64.getEncoder().encodeToString(bytes);
      }
      try {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      } catch (CharacterCodingException e) {
        throw new UnreadableException(
            "is no text but bytes of a codec: add --base64, and let the worker decode them");
      }
    }
  }

  /** An entry that is left where it was; the message continues a sentence that begins "A job". */
  static final class UnreadableException extends Exception {
    private static final long serialVersionUID = 1L;

    UnreadableException(String message) {
      super(message, null, false, false);
    }
  }

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
  abstract OldJob read(UnifiedJedis redis, String queue, double score, byte[] entry, Format format)
      throws UnreadableException;

  private static String digest(byte[]... parts) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (byte[] part : parts) {
        digest.update(part);
      }
      return HexFormat.of().formatHex(digest.digest(), 0, DIGEST);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
