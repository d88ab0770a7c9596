package io.punctual.core.admin;

import io.punctual.core.QueueStats;
import io.punctual.core.job.Opening;
import io.punctual.core.job.Pause;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.query.BucketStats;
import io.punctual.schedule.TimeRules;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Turns what the store says into what people read. */
public final class Views {

  private Views() {}

  /**
   * Adds the buckets of a queue up.
   *
   * @param size how many it has
   * @param buckets those that could be read
   * @param busy whether deliveries of the queue are open here
   * @param room whether the dispatcher takes jobs of the queue
   * @param hours of the queue; none if they cannot be read
   * @param opening of them, now or next; null without hours, or if it could not be found out
   * @param damage what is wrong with the others, or null
   */
  public static QueueStats queue(
      QueueName queue,
      int size,
      List<BucketStats> buckets,
      boolean busy,
      boolean room,
      TimeRules hours,
      @Nullable Opening opening,
      @Nullable String damage) {
    Map<String, Long> counters = new TreeMap<>();
    for (BucketStats bucket : buckets) {
      bucket.counters().forEach((name, count) -> counters.merge(name, count, Long::sum));
    }
    long now = now(buckets);
    Long from = opening == null ? null : Long.valueOf(opening.from());
    long ready = buckets.stream().mapToLong(BucketStats::ready).sum();
    return new QueueStats(
        queue,
        size,
        now,
        buckets.stream().mapToLong(BucketStats::delayed).sum(),
        ready,
        buckets.stream().mapToLong(BucketStats::reserved).sum(),
        buckets.stream().mapToLong(BucketStats::dead).sum(),
        earliest(buckets, BucketStats::oldestReady),
        earliest(buckets, BucketStats::nextDue),
        ready > 0 && !busy && !room,
        pauses(buckets),
        throttle(buckets, size),
        buckets.stream().anyMatch(BucketStats::dropsExpired),
        hours,
        from != null && from > now ? from : null,
        from != null && from <= now ? from : null,
        counters,
        buckets.stream()
            .map(BucketStats::lastDeath)
            .filter(Objects::nonNull)
            .max(Comparator.naturalOrder())
            .orElse(null),
        buckets.stream().mapToLong(BucketStats::deadInHour).sum(),
        damage);
  }

  // As the bucket has it that was paused first.
  private static List<Pause> pauses(List<BucketStats> buckets) {
    return Stream.of(Pause.Scope.values())
        .flatMap(
            scope ->
                buckets.stream()
                    .flatMap(bucket -> bucket.pauses().stream())
                    .filter(pause -> pause.scope() == scope)
                    .min(Comparator.comparingLong(Pause::since))
                    .stream())
        .toList();
  }

  /** The store's time at which they were read; 0 if there are none. */
  public static long now(List<BucketStats> buckets) {
    return buckets.stream().mapToLong(BucketStats::now).max().orElse(0);
  }

  /** The text of the queue's hours; empty for none. */
  public static String hours(List<BucketStats> buckets) {
    return buckets.stream()
        .map(BucketStats::hours)
        .filter(text -> !text.isEmpty())
        .findFirst()
        .orElse("");
  }

  /** Of all buckets together, as {@link #part} has split it. */
  private static Throttle throttle(List<BucketStats> buckets, int size) {
    Integer concurrency = null;
    Throttle.Rate rate = null;
    for (BucketStats bucket : buckets) {
      Integer more = bucket.throttle().concurrency();
      if (more != null) {
        concurrency = concurrency == null ? more : concurrency + more;
      }
      rate = bucket.throttle().rate();
    }
    return new Throttle(concurrency, rate == null ? null : rate.whole(size));
  }

  /** What one of so many buckets may have of it. */
  public static Throttle part(Throttle whole, int index, int buckets) {
    Integer concurrency = whole.concurrency();
    Throttle.Rate rate = whole.rate();
    return new Throttle(
        concurrency == null
            ? null
            : Integer.valueOf(concurrency / buckets + (index < concurrency % buckets ? 1 : 0)),
        rate == null ? null : rate.part(buckets));
  }

  private static @Nullable Long earliest(
      List<BucketStats> buckets, Function<BucketStats, @Nullable Long> time) {
    Stream<@Nullable Long> times = buckets.stream().map(time);
    return times.filter(Objects::nonNull).min(Long::compare).orElse(null);
  }
}
