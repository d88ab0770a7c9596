package io.punctual.core.engine;

import io.punctual.core.queue.Bucket;
import io.punctual.core.queue.QueueName;
import io.punctual.core.store.StoreException;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says once when the store goes away and once when it is back, however many duties notice; and
 * which buckets are damaged.
 */
final class Outages {

  private static final Logger log = LoggerFactory.getLogger(Outages.class);

  /** What does not answer is over soon once something else answers. */
  private static final Duration SILENCE = Duration.ofSeconds(2);

  /** What refuses may refuse the next one, too, though it answers others. */
  private static final Duration REFUSAL = Duration.ofSeconds(10);

  private final LongSupplier clock;
  private final Map<Object, Failure> failing = new ConcurrentHashMap<>();
  private final Map<Bucket, String> damaged = new ConcurrentHashMap<>();

  /** A duty's last failure: it counts until a call of its own works, or until a time, in ns. */
  private record Failure(@Nullable Long until) {

    boolean isOver(long now) {
      return until != null && now - until >= 0;
    }
  }

  Outages(LongSupplier clock) {
    this.clock = clock;
  }

  /**
   * A call failed of a duty that goes on calling until it works.
   *
   * @param who the duty whose call it was; it keeps the outage open until a call of its own works
   * @param bucket which bucket it was about; null where it was about none
   * @return whether that is news, of this duty or this bucket
   */
  boolean failed(Object who, @Nullable Bucket bucket, RuntimeException e) {
    return failed(who, bucket, e, new Failure(null));
  }

  /**
   * A call failed of a duty that calls only when somebody wants it to, and perhaps never again: it
   * keeps the outage open until a call of its own works, or none has failed for a while and the
   * {@linkplain #works store works}. Otherwise as {@link #failed}.
   */
  boolean failedOnDemand(Object who, Bucket bucket, RuntimeException e) {
    boolean silent = e instanceof StoreException s && s.kind() == StoreException.Kind.UNREACHABLE;
    long quiet = (silent ? SILENCE : REFUSAL).toNanos();
    return failed(who, bucket, e, new Failure(clock.getAsLong() + quiet));
  }

  /**
   * The watch found that the store reads and writes.
   *
   * @param asked when it began to look, ns
   */
  void works(long asked) {
    if (failing.values().removeIf(failure -> failure.isOver(asked))) {
      tellEnd();
    }
  }

  private void tellEnd() {
    if (failing.isEmpty()) {
      log.info("The store answers again");
    }
  }

  private boolean failed(Object who, @Nullable Bucket bucket, RuntimeException e, Failure failure) {
    if (bucket != null && isDamage(e)) {
      // It did answer.
      if (failing.remove(who) != null) {
        tellEnd();
      }
      return damaged(bucket, (StoreException) e);
    }
    boolean first = failing.isEmpty();
    boolean news = failing.put(who, failure) == null;
    if (news && first) {
      if (e instanceof StoreException) {
        log.warn(
            "The store does not answer or refuses: {}. Jobs wait in it, acks are kept here; it is"
                + " tried again until it works, without further messages.",
            e.getMessage());
      } else {
        log.error("A call to the store failed in an unexpected way; it is tried again", e);
      }
    }
    return news;
  }

  /** A call worked. */
  void answered(Object who, @Nullable Bucket bucket) {
    if (!failing.isEmpty() && failing.remove(who) != null) {
      tellEnd();
    }
    if (bucket != null) {
      mended(bucket);
    }
  }

  /** A call looked at all keys of the bucket, and none was damaged. */
  void mended(Bucket bucket) {
    if (!damaged.isEmpty() && damaged.remove(bucket) != null) {
      log.info("{} is no longer quarantined", bucket);
    }
  }

  /** Whether an operator has to mend the bucket's keys. */
  static boolean isDamage(RuntimeException e) {
    return e instanceof StoreException s && s.kind() == StoreException.Kind.CORRUPT;
  }

  /**
   * A call found keys of the bucket damaged. Every call looks at all of them, so that the next one
   * that works proves them well, whoever makes it.
   *
   * @return whether that is news
   */
  boolean damaged(Bucket bucket, StoreException e) {
    boolean news = damaged.put(bucket, String.valueOf(e.getMessage())) == null;
    if (news) {
      log.error(
          "{} is quarantined: {}. Repair or remove the foreign key; it is tried again every"
              + " {} s. All other queues go on.",
          bucket,
          e.getMessage(),
          Scanner.QUARANTINE.toSeconds());
    }
    return news;
  }

  /** What is wrong with the queues that are damaged, as it was seen last. */
  SortedMap<QueueName, String> damaged() {
    SortedMap<QueueName, String> queues = new TreeMap<>();
    damaged.entrySet().stream()
        .sorted(Comparator.comparing(entry -> entry.getKey().index()))
        .forEach(entry -> queues.putIfAbsent(entry.getKey().queue(), entry.getValue()));
    return queues;
  }
}
