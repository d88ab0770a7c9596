package io.punctual.server.history;

import io.punctual.server.metrics.RecentLateness;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Elects the scheduler that samples: the longest running of those that reported lately. Each also
 * says how late its jobs began, since only it knows.
 */
final class Samplers {

  private static final Pattern SAID =
      Pattern.compile("(\\d{1,15}) (\\d{1,15}) (\\d{1,15}|-) (\\d{1,15}|-)");
  // A chart has no place for more than the last bucket.
  private static final double MOST_MS = 3_600_000;

  private final StringRedisTemplate redis;
  private final String key;
  private final Duration life;
  private final String id = UUID.randomUUID().toString();
  private long since;

  /**
   * @param key a hash, id → since when it is there, when it said so last (both epoch ms), p50, p99
   * @param life how long a scheduler counts after it said so
   */
  Samplers(StringRedisTemplate redis, String key, Duration life) {
    this.redis = redis;
    this.key = key;
    this.life = life;
  }

  /**
   * What this scheduler knows of all.
   *
   * @param mine whether it is the one that samples
   * @param p50 the longest of all schedulers, ms; null where no job began
   * @param p99 the same
   */
  record Turn(boolean mine, @Nullable Long p50, @Nullable Long p99) {}

  /**
   * Says that this scheduler is there.
   *
   * @param now Redis's time, epoch ms
   * @param here how late jobs began here; null where none began
   */
  Turn turn(long now, RecentLateness.@Nullable Quantiles here) {
    since = since == 0 ? now : since;
    redis
        .<String, String>opsForHash()
        .put(
            key,
            id,
            "%d %d %s %s"
                .formatted(
                    since,
                    now,
                    here == null ? "-" : millis(here.p50()),
                    here == null ? "-" : millis(here.p99())));
    redis.expire(key, life.multipliedBy(2));
    Map<String, String> all = redis.<String, String>opsForHash().entries(key);
    boolean mine = true;
    Long p50 = null;
    Long p99 = null;
    for (Map.Entry<String, String> one : all.entrySet()) {
      Matcher said = SAID.matcher(one.getValue());
      if (!said.matches() || Math.abs(now - Long.parseLong(said.group(2))) > life.toMillis()) {
        // One that comes again says so again.
        redis.opsForHash().delete(key, one.getKey());
        continue;
      }
      long others = Long.parseLong(said.group(1));
      mine &= others > since || (others == since && one.getKey().compareTo(id) >= 0);
      p50 = later(p50, said.group(3));
      p99 = later(p99, said.group(4));
    }
    return new Turn(mine, p50, p99);
  }

  /** Says that this scheduler goes. */
  void leave() {
    redis.opsForHash().delete(key, id);
  }

  private static String millis(double ms) {
    return Long.toString((long) Math.ceil(Math.min(MOST_MS, ms)));
  }

  private static @Nullable Long later(@Nullable Long known, String said) {
    if (said.equals("-")) {
      return known;
    }
    long ms = Long.parseLong(said);
    return known == null || ms > known ? Long.valueOf(ms) : known;
  }
}
