package io.punctual.core.recovery;

import io.punctual.core.job.Bucket;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.StoreException;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knows which calls to the store fail, and which buckets are damaged, and logs when that begins and
 * ends. It hears of every call, see {@link StoreCallMonitor}.
 *
 * <p>A call that failed keeps the outage open until the same call on the same bucket works. One
 * that had no answer is over as soon as the bucket answers any call. A call that is not made again
 * is forgotten after a while, once the {@linkplain #works store works}.
 */
public final class Outages {

  private static final Logger log = LoggerFactory.getLogger(Outages.class);

  /** How often a bucket is tried that an operator has to repair. */
  public static final Duration QUARANTINE = Duration.ofSeconds(30);

  /** Longer than any call that goes on failing is quiet between two tries. */
  private static final Duration QUIET = Duration.ofSeconds(15);

  /** How long connections that an outage broke may fail after its end, which begins no other. */
  private static final Duration AFTERMATH = Duration.ofSeconds(5);

  private record Call(String name, @Nullable Bucket bucket) {}

  /**
   * A call's last failure.
   *
   * @param silent whether there was no answer
   * @param at monotonic ns
   */
  private record Failure(boolean silent, long at) {}

  private final LongSupplier clock;
  private final Map<Call, Failure> failing = new ConcurrentHashMap<>();
  private final Map<Bucket, String> damaged = new ConcurrentHashMap<>();
  private boolean open;
  private boolean endedBefore;
  private long lastEnd;

  public Outages(LongSupplier clock) {
    this.clock = clock;
  }

  /**
   * A call failed.
   *
   * @param bucket which bucket it was about; null for none
   * @return whether it shows damage of a bucket that was not known
   */
  public boolean failed(String call, @Nullable Bucket bucket, StoreException e) {
    if (bucket != null && isDamage(e)) {
      // It did answer.
      ended(call, bucket);
      return damaged(bucket, e);
    }
    boolean silent = e.kind() == StoreException.Kind.UNREACHABLE;
    synchronized (failing) {
      long now = clock.getAsLong();
      failing.put(new Call(call, bucket), new Failure(silent, now));
      if (!open && (!endedBefore || now - lastEnd >= AFTERMATH.toNanos())) {
        open = true;
        log.warn(
            "Redis does not answer or refuses: {}. Jobs wait in it, and acknowledgements are kept"
                + " here. Calls are repeated until they work, without further messages.",
            e.getMessage());
      }
    }
    return false;
  }

  /** A call worked. On a damaged bucket it looked at all keys first, so that none is damaged. */
  public void answered(String call, @Nullable Bucket bucket) {
    ended(call, bucket);
    if (bucket != null && !damaged.isEmpty() && damaged.remove(bucket) != null) {
      log.info("{} is no longer quarantined", bucket);
    }
  }

  private void ended(String call, @Nullable Bucket bucket) {
    if (!failing.isEmpty()) {
      end(
          entry ->
              Objects.equals(entry.getKey().bucket(), bucket)
                  && (entry.getValue().silent() || entry.getKey().name().equals(call)));
    }
  }

  /**
   * The watch found that the store reads and writes.
   *
   * @param asked when it began to look, monotonic ns
   */
  void works(long asked) {
    end(entry -> asked - entry.getValue().at() >= QUIET.toNanos());
  }

  /** Returns whether an outage has begun and not ended. */
  boolean areOpen() {
    synchronized (failing) {
      return open;
    }
  }

  private void end(Predicate<Map.Entry<Call, Failure>> which) {
    synchronized (failing) {
      failing.entrySet().removeIf(which);
      if (open && failing.isEmpty()) {
        open = false;
        endedBefore = true;
        lastEnd = clock.getAsLong();
        log.info("Redis answers again");
      }
    }
  }

  /** Whether an operator has to repair the bucket's keys. */
  public static boolean isDamage(RuntimeException e) {
    return e instanceof StoreException s && s.kind() == StoreException.Kind.CORRUPT;
  }

  private boolean damaged(Bucket bucket, StoreException e) {
    boolean news = damaged.put(bucket, String.valueOf(e.getMessage())) == null;
    if (news) {
      log.error(
          "{} is quarantined: {}. Repair or remove the foreign key; it is tried again every"
              + " {} s. All other queues go on.",
          bucket,
          e.getMessage(),
          QUARANTINE.toSeconds());
    }
    return news;
  }

  /** Whether keys of the bucket were found damaged when it was last called. */
  boolean isDamaged(Bucket bucket) {
    return !damaged.isEmpty() && damaged.containsKey(bucket);
  }

  /** What is wrong with the queues that are damaged, as it was seen last. */
  public SortedMap<QueueName, String> damaged() {
    SortedMap<QueueName, String> queues = new TreeMap<>();
    damaged.entrySet().stream()
        .sorted(Comparator.comparing(entry -> entry.getKey().index()))
        .forEach(entry -> queues.putIfAbsent(entry.getKey().queue(), entry.getValue()));
    return queues;
  }
}
