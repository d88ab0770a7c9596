package io.punctual.server.operation;

import io.punctual.server.security.ApplicationTokens;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/**
 * Keeps in Redis how far operations on many jobs are, the last {@value #MOST} of all schedulers. A
 * scheduler that runs one says so again and again. An operation of which nothing was heard for
 * {@value #SILENCE_MS} ms is interrupted: its scheduler ended, and no other one goes on with it.
 * All calls throw {@link DataAccessException} if Redis does not answer.
 */
@Component
public class OperationLog {

  /** Most operations that are kept. */
  static final int MOST = 200;

  /** After how long without a word an operation is interrupted, ms. */
  static final long SILENCE_MS = 30_000;

  private static final String STOP = "stop ";
  private static final JsonMapper JSON = new JsonMapper();
  private static final Comparator<OperationRecord> BY_BEGIN =
      Comparator.comparing(one -> Instant.parse(one.begun()));

  private final StringRedisTemplate redis;
  private final String key;

  /** Keeps its records under the key prefix. */
  public OperationLog(
      StringRedisTemplate redis,
      @Value("${" + ApplicationTokens.KEY_PREFIX + ":punctual}") String keyPrefix) {
    this.redis = redis;
    this.key = keyPrefix + ":operations";
  }

  private HashOperations<String, String, String> hash() {
    return redis.opsForHash();
  }

  private long now() {
    Long now =
        redis.execute(
            (RedisCallback<Long>)
                connection -> Objects.requireNonNull(connection.serverCommands().time()));
    return Objects.requireNonNull(now);
  }

  /** Keeps the record of an operation that begins, or goes on, and forgets the oldest ones. */
  public void begin(OperationRecord record) {
    var unused = hash().delete(key, STOP + record.id());
    put(record);
    trim();
  }

  /** Keeps a record, in place of an earlier one of the same operation. */
  public void put(OperationRecord record) {
    hash().put(key, record.id(), JSON.writeValueAsString(record.seenAt(now())));
    if (record.over()) {
      var unused = hash().delete(key, STOP + record.id());
    }
  }

  private void trim() {
    Map<String, String> fields = hash().entries(key);
    Set<String> kept =
        read(fields).stream().limit(MOST).map(OperationRecord::id).collect(Collectors.toSet());
    Object[] old =
        fields.keySet().stream()
            .filter(field -> !kept.contains(field.replaceFirst("^" + STOP, "")))
            .toArray();
    if (old.length > 0) {
      var unused = hash().delete(key, old);
    }
  }

  /** Returns all that are kept, the newest first. */
  public List<OperationRecord> all() {
    return read(hash().entries(key));
  }

  private List<OperationRecord> read(Map<String, String> fields) {
    if (fields.isEmpty()) {
      return List.of();
    }
    long now = now();
    return fields.entrySet().stream()
        .flatMap(field -> Stream.ofNullable(read(field.getKey(), field.getValue(), now)))
        .sorted(BY_BEGIN.reversed())
        .toList();
  }

  /** Returns an operation; null if it is not kept. */
  public @Nullable OperationRecord find(String id) {
    String text = hash().get(key, id);
    return text == null ? null : read(id, text, now());
  }

  private static @Nullable OperationRecord read(String field, String text, long now) {
    if (field.startsWith(STOP)) {
      return null;
    }
    try {
      OperationRecord record = JSON.readValue(text, OperationRecord.class);
      if (!record.id().equals(field)) {
        return null;
      }
      return !record.over() && now - record.seen() > SILENCE_MS
          ? record.in(OperationRecord.INTERRUPTED)
          : record;
    } catch (RuntimeException e) {
      // Of another version, or of another program.
      return null;
    }
  }

  /** Asks the scheduler that runs an operation to stop it. */
  public void askToStop(String id) {
    hash().put(key, STOP + id, "");
  }

  /** Returns whether a scheduler was asked to stop an operation. */
  public boolean isAskedToStop(String id) {
    return hash().get(key, STOP + id) != null;
  }
}
