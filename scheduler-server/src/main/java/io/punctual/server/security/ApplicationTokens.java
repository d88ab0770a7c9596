package io.punctual.server.security;

import io.punctual.server.text.Printable;
import io.punctual.wire.Limits;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * The tokens of applications. Redis has a hash of each, of which every scheduler has a copy: a new
 * token works within {@link #AGAIN}, one that was revoked no more after {@link #TRUST}.
 *
 * <p>The copy is read as a whole, at most once in {@link #AGAIN}: made-up tokens cost Redis
 * nothing, however many there are.
 *
 * <p>A token is 32 random bytes, so that one round of SHA-256 hides it as well as any slow hash.
 */
public final class ApplicationTokens {

  /** The property that says how keys in Redis begin. */
  public static final String KEY_PREFIX = "punctual.key-prefix";

  /** What every token begins with, so that it is known wherever it leaks. */
  static final String PREFIX = "pct_";

  /** As many may live at once: the old one and the new one. */
  static final int LIVE = 2;

  /** How long a scheduler goes by its copy. */
  public static final Duration TRUST = Duration.ofSeconds(5);

  /** How long it does so before it reads again for a token that is not in it. */
  static final Duration AGAIN = Duration.ofSeconds(1);

  private static final Logger log = LoggerFactory.getLogger(ApplicationTokens.class);
  private static final int ID_BYTES = 6;
  private static final int SECRET_BYTES = 32;
  private static final Pattern TOKEN = Pattern.compile("pct_([0-9a-f]{12})_[A-Za-z0-9_-]{43}");
  private static final SecureRandom RANDOM = new SecureRandom();

  private final StringRedisTemplate redis;
  private final String key;
  private final LongSupplier ticks;
  private final InstantSource clock;
  private final ReentrantLock reading = new ReentrantLock();
  private volatile @Nullable Copy copy;

  /**
   * A token without its secret.
   *
   * @param id part of the token, no secret
   * @param application in lower case
   */
  public record Entry(String id, String application, String hash, Instant created) {}

  /**
   * What was read.
   *
   * @param readAt monotonic ns, before it was read
   * @param triedAt when it was tried last; later than that only if there was no answer
   * @param failure why there was none; null if there was one
   */
  private record Copy(
      Map<String, Entry> entries,
      long readAt,
      long triedAt,
      @Nullable DataAccessException failure) {}

  /**
   * @param keyPrefix first part of the key in Redis
   * @param ticks monotonic ns
   */
  public ApplicationTokens(
      StringRedisTemplate redis, String keyPrefix, LongSupplier ticks, InstantSource clock) {
    this.redis = redis;
    this.key = keyPrefix + ":tokens";
    this.ticks = ticks;
    this.clock = clock;
  }

  /** Finds the entry of a token; empty if the token is unknown. */
  Optional<Entry> find(String token) {
    Matcher matcher = TOKEN.matcher(token);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    Entry entry = entry(matcher.group(1));
    // In constant time, so that an attacker does not learn the hash byte by byte.
    return entry != null
            && MessageDigest.isEqual(
                entry.hash().getBytes(StandardCharsets.US_ASCII),
                hash(token).getBytes(StandardCharsets.US_ASCII))
        ? Optional.of(entry)
        : Optional.empty();
  }

  private @Nullable Entry entry(String id) {
    Copy known = copy;
    long now = ticks.getAsLong();
    Entry entry = known == null ? null : known.entries().get(id);
    if (known == null
        || now - known.readAt() >= TRUST.toNanos()
        || (entry == null && now - known.readAt() >= AGAIN.toNanos())) {
      known = read(now);
      entry = known.entries().get(id);
    }
    DataAccessException failure = known.failure();
    if (entry == null && failure != null) {
      // It may be a new one.
      throw failure;
    }
    return entry;
  }

  /** Reads all tokens again; one thread at a time, and the others wait for what it finds. */
  private Copy read(long now) {
    reading.lock();
    try {
      Copy before = copy;
      if (before != null && now - before.triedAt() < AGAIN.toNanos()) {
        return before;
      }
      Copy read;
      try {
        read = new Copy(entries(), now, now, null);
      } catch (DataAccessException e) {
        // While Redis is away nothing can be done with a token but to be told so.
        read =
            before == null
                ? new Copy(Map.of(), now - TRUST.toNanos(), now, e)
                : new Copy(before.entries(), before.readAt(), now, e);
      }
      copy = read;
      return read;
    } finally {
      reading.unlock();
    }
  }

  /**
   * Makes a token.
   *
   * @return the token itself, which is shown once and kept nowhere
   * @throws IllegalArgumentException if the name is none
   * @throws IllegalStateException if so many live already, naming them
   */
  public String create(String application) {
    Limits.requireName("application", application);
    String name = application.toLowerCase(Locale.ROOT);
    List<Entry> live = all().stream().filter(entry -> entry.application().equals(name)).toList();
    if (live.size() >= LIVE) {
      throw new IllegalStateException(
          name
              + " has "
              + LIVE
              + " tokens already ("
              + String.join(", ", live.stream().map(Entry::id).toList())
              + "): revoke the one that is not used any more");
    }
    String id = HexFormat.of().formatHex(random(ID_BYTES));
    String secret = Base64.getUrlEncoder().withoutPadding().encodeToString(random(SECRET_BYTES));
    String token = PREFIX + id + "_" + secret;
    redis.opsForHash().put(key, id, name + " " + hash(token) + " " + clock.millis());
    return token;
  }

  private static byte[] random(int length) {
    byte[] bytes = new byte[length];
    RANDOM.nextBytes(bytes);
    return bytes;
  }

  /** Every token, the oldest first. */
  public List<Entry> all() {
    return entries().values().stream()
        .sorted(Comparator.comparing(Entry::application).thenComparing(Entry::created))
        .toList();
  }

  private Map<String, Entry> entries() {
    Map<String, Entry> entries = new HashMap<>();
    redis
        .opsForHash()
        .entries(key)
        .forEach(
            (id, text) -> {
              try {
                entries.put(id.toString(), parse(id.toString(), text.toString()));
              } catch (IllegalArgumentException e) {
                // One damaged entry must not shut all applications out.
                log.warn(
                    "The token {} in {} is damaged: revoke it", Printable.of(id.toString()), key);
              }
            });
    return entries;
  }

  /** Ends a token; false if there is none of that id. */
  public boolean revoke(String id) {
    return redis.opsForHash().delete(key, id) > 0;
  }

  private static Entry parse(String id, String text) {
    String[] parts = text.split(" ", -1);
    if (parts.length != 3) {
      throw new IllegalArgumentException("a token has three parts");
    }
    return new Entry(id, parts[0], parts[1], Instant.ofEpochMilli(Long.parseLong(parts[2])));
  }

  private static String hash(String token) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256")
                  .digest(token.getBytes(StandardCharsets.US_ASCII)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
