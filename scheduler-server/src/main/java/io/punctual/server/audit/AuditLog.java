package io.punctual.server.audit;

import io.punctual.server.security.ApplicationTokens;
import io.punctual.server.security.Caller;
import io.punctual.server.text.Printable;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/**
 * What operators did: in the log of the scheduler that they did it with, and the last {@value
 * #KEPT} in Redis for all. What applications do to their own jobs is their business, and too much.
 */
@Component
public class AuditLog {

  /** As many entries are kept. */
  public static final int KEPT = 10_000;

  private static final Logger log = LoggerFactory.getLogger("punctual.audit");
  private static final JsonMapper JSON = new JsonMapper();

  private final StringRedisTemplate redis;
  private final String key;
  private final InstantSource clock;

  @Autowired
  AuditLog(
      StringRedisTemplate redis,
      @Value("${" + ApplicationTokens.KEY_PREFIX + ":punctual}") String keyPrefix) {
    this(redis, keyPrefix, InstantSource.system());
  }

  AuditLog(StringRedisTemplate redis, String keyPrefix, InstantSource clock) {
    this.redis = redis;
    this.key = keyPrefix + ":audit";
    this.clock = clock;
  }

  /**
   * One thing that an operator did.
   *
   * @param target the queue, or the job in it
   * @param before how it was; null where there is nothing to say
   * @param after how it is now
   */
  public record Entry(
      String id,
      String at,
      String operator,
      String action,
      String target,
      @Nullable String before,
      @Nullable String after) {}

  /**
   * Whether what the caller of this moment does is written down: to be asked before something is
   * looked up for the audit alone.
   */
  public boolean isKept() {
    Caller caller = Caller.current();
    return caller.role() != null && !caller.isAnybody();
  }

  /**
   * Writes down what the caller of this moment did, if that is an operator.
   *
   * @param target asked only then
   */
  public void did(
      String action, Supplier<String> target, @Nullable String before, @Nullable String after) {
    if (isKept()) {
      write(Caller.current(), action, target.get(), before, after);
    }
  }

  private void write(
      Caller caller,
      String action,
      String target,
      @Nullable String before,
      @Nullable String after) {
    Instant now = clock.instant();
    Entry entry =
        new Entry(
            UUID.randomUUID().toString(),
            now.toString(),
            Printable.of(caller.name()),
            action,
            Printable.of(target),
            before == null ? null : Printable.of(before),
            after == null ? null : Printable.of(after));
    log.info(
        "{} did {} to {}: {} -> {}",
        entry.operator(),
        entry.action(),
        entry.target(),
        entry.before(),
        entry.after());
    try {
      // By the time that is left, so to say: the newest first.
      redis.opsForZSet().add(key, JSON.writeValueAsString(entry), (double) -now.toEpochMilli());
      Long size = redis.opsForZSet().zCard(key);
      if (size != null && size > KEPT) {
        Set<String> oldest = redis.opsForZSet().range(key, KEPT, -1);
        if (oldest != null && !oldest.isEmpty()) {
          redis.opsForZSet().remove(key, oldest.toArray());
        }
      }
    } catch (DataAccessException e) {
      // It is done; the line above is what remains of it.
      log.warn("The entry above is in this log only, Redis did not take it: {}", e.getMessage());
    }
  }

  /**
   * Some entries, the newest first.
   *
   * @param until epoch ms of the newest that may be among them; null for now
   * @param skip how many of those to leave out
   */
  public List<Entry> newest(@Nullable Long until, int skip, int max) {
    Set<String> found =
        redis
            .opsForZSet()
            .rangeByScore(
                key,
                until == null ? Double.NEGATIVE_INFINITY : (double) -until,
                Double.POSITIVE_INFINITY,
                skip,
                max);
    return found == null
        ? List.of()
        : found.stream().map(text -> JSON.readValue(text, Entry.class)).toList();
  }
}
