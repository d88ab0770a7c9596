package io.punctual.core.store.durability;

import io.punctual.core.store.redis.script.StoreOptions;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What must have happened before a submit, or another change that somebody asked for, is answered.
 * What scripts do by themselves (claims, acks) does not wait: what is forgotten of it is delivered
 * again. {@link StoreOptions#confirmEnds} makes ends of attempts wait.
 *
 * @param level where the change must be
 * @param replicas how many replicas must have it, 1 to 9; 0 for the other levels
 * @param patience how long to wait for that, 10 ms to 10 s. Then the answer is that the outcome is
 *     not known; with AUTO, that Redis alone has it
 */
public record Durability(Level level, int replicas, Duration patience) {

  private static final Pattern REPLICATED = Pattern.compile("replicated:([1-9])");

  /** Where a change must be. */
  public enum Level {
    /** In the memory of one replica where replicas confirm changes, else as for REDIS. */
    AUTO,
    /** Where Redis, as it is configured, puts it before it answers. */
    REDIS,
    /** On Redis's own disk, by an fsync. */
    SYNCED,
    /** In the memory of replicas. */
    REPLICATED
  }

  /** One replica where there is one. */
  public static final Durability DEFAULT = new Durability(Level.AUTO, 0, Duration.ofSeconds(1));

  /** Checks the ranges. */
  public Durability {
    if (patience.toMillis() < 10 || patience.toMillis() > 10_000) {
      throw new IllegalArgumentException(
          "the wait for durability must be between 10 ms and 10 s, not " + patience);
    }
    if (level == Level.REPLICATED ? replicas < 1 || replicas > 9 : replicas != 0) {
      throw new IllegalArgumentException(
          "replicated needs 1 to 9 replicas, and other levels none, not " + replicas);
    }
  }

  /**
   * Reads a setting.
   *
   * @param text {@code auto}, {@code redis}, {@code synced} or {@code replicated:n}, n being 1 to 9
   * @throws IllegalArgumentException for other texts
   */
  public static Durability parse(String text, Duration patience) {
    Matcher replicated = REPLICATED.matcher(text);
    if (replicated.matches()) {
      return new Durability(Level.REPLICATED, Integer.parseInt(replicated.group(1)), patience);
    }
    return switch (text) {
      case "auto" -> new Durability(Level.AUTO, 0, patience);
      case "redis" -> new Durability(Level.REDIS, 0, patience);
      case "synced" -> new Durability(Level.SYNCED, 0, patience);
      default ->
          throw new IllegalArgumentException(
              "must be auto, redis, synced or replicated:n with n from 1 to 9, not '" + text + "'");
    };
  }

  @Override
  public String toString() {
    return switch (level) {
      case AUTO -> "auto";
      case REDIS -> "redis";
      case SYNCED -> "synced";
      case REPLICATED -> "replicated:" + replicas;
    };
  }
}
