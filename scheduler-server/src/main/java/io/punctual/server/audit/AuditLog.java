package io.punctual.server.audit;

import io.punctual.server.security.ApplicationTokens;
import io.punctual.server.security.Caller;
import io.punctual.server.text.Printable;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.ZSetOperations;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/**
 * What operators did: in the log of the scheduler that they did it with, and in Redis for all, for
 * 90 days, at most the last {@value #MOST}. What applications do to their own jobs is their
 * business, and too much.
 */
@Component
public class AuditLog {

  /** Most entries that are kept. */
  static final int MOST = 50_000;

  /** How long an entry is kept. */
  static final Duration KEPT = Duration.ofDays(90);

  // Old ones that one more entry removes at most.
  private static final int AT_ONCE = 100;

  private static final Logger log = LoggerFactory.getLogger("punctual.audit");
  private static final JsonMapper JSON = new JsonMapper();

  private final StringRedisTemplate redis;
  private final String key;
  private final InstantSource clock;

  /** Keeps its entries under the key prefix. */
  @Autowired
  public AuditLog(
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
   * @param operation the id of the bulk operation that it began or ended; null for another act
   */
  public record Entry(
      String id,
      String at,
      String operator,
      String action,
      String target,
      @Nullable String before,
      @Nullable String after,
      @Nullable String operation) {}

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
      keep(logged(entry(action, target.get(), before, after, null)));
    }
  }

  /**
   * Writes down that the caller of this moment, if it is an operator, began or ended a bulk
   * operation.
   *
   * @param what it began with, or how it ended
   */
  public void operated(String action, String target, String what, String operation) {
    if (isKept()) {
      keep(logged(entry(action, target, null, what, operation)));
    }
  }

  /** Writes a part of a bulk operation to the log alone. */
  public void passed(String action, String target, String outcome, String operation) {
    if (isKept()) {
      var unused = logged(entry(action, target, null, outcome, operation));
    }
  }

  private Entry entry(
      String action,
      String target,
      @Nullable String before,
      @Nullable String after,
      @Nullable String operation) {
    return new Entry(
        UUID.randomUUID().toString(),
        clock.instant().toString(),
        Printable.of(Caller.current().name()),
        action,
        Printable.of(target),
        before == null ? null : Printable.of(before),
        after == null ? null : Printable.of(after),
        operation);
  }

  private static Entry logged(Entry entry) {
    LoggingEventBuilder line =
        log.atInfo()
            .addKeyValue("user.name", entry.operator())
            .addKeyValue("event.action", entry.action())
            .addKeyValue("punctual.audit.target", entry.target());
    if (entry.before() != null) {
      line = line.addKeyValue("punctual.audit.before", entry.before());
    }
    if (entry.after() != null) {
      line = line.addKeyValue("punctual.audit.after", entry.after());
    }
    if (entry.operation() != null) {
      line = line.addKeyValue("punctual.audit.operation", entry.operation());
    }
    line.log(
        "{} did {} to {}: {} -> {}",
        entry.operator(),
        entry.action(),
        entry.target(),
        entry.before(),
        entry.after());
    return entry;
  }

  private void keep(Entry entry) {
    long now = Instant.parse(entry.at()).toEpochMilli();
    ZSetOperations<String, String> entries = redis.opsForZSet();
    try {
      // By the time that is left, so to say: the newest first.
      entries.add(key, JSON.writeValueAsString(entry), (double) -now);
      // Each does no harm if another scheduler did the same.
      Set<String> old =
          entries.rangeByScore(
              key, KEPT.toMillis() - now + 1.0, Double.POSITIVE_INFINITY, 0, AT_ONCE);
      if (old != null && !old.isEmpty()) {
        entries.remove(key, old.toArray());
      }
      entries.removeRange(key, MOST, -1);
    } catch (RuntimeException e) {
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
