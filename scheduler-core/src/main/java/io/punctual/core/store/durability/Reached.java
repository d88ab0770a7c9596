package io.punctual.core.store.durability;

/**
 * The durability that a change had reached when it was answered.
 *
 * @param level REDIS, SYNCED or REPLICATED
 * @param replicas how many replicas had confirmed it; 0 for other levels
 */
public record Reached(Durability.Level level, int replicas) implements Comparable<Reached> {

  /** Where Redis, as it is configured, puts it before it answers. */
  public static final Reached REDIS = new Reached(Durability.Level.REDIS, 0);

  /** On Redis's own disk, by an fsync. */
  public static final Reached SYNCED = new Reached(Durability.Level.SYNCED, 0);

  public static Reached replicated(long replicas) {
    return new Reached(Durability.Level.REPLICATED, Math.toIntExact(replicas));
  }

  /** The weaker is the smaller one. */
  @Override
  public int compareTo(Reached other) {
    int order = level.compareTo(other.level);
    return order != 0 ? order : Integer.compare(replicas, other.replicas);
  }

  /** As the API writes it: {@code redis}, {@code synced} or {@code replicated:n}. */
  @Override
  public String toString() {
    return switch (level) {
      case AUTO, REDIS -> "redis";
      case SYNCED -> "synced";
      case REPLICATED -> "replicated:" + replicas;
    };
  }
}
