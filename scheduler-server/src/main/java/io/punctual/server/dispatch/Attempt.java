package io.punctual.server.dispatch;

import io.punctual.core.engine.Delivery;
import io.punctual.core.engine.RepeatCause;
import io.punctual.core.store.StoreException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A delivery on its way to one instance. The first ending counts; afterwards only a late 'done' is
 * passed on, since the work is done then, whoever gave up on it before.
 */
final class Attempt {

  private static final Logger log = LoggerFactory.getLogger(Attempt.class);

  private final Delivery delivery;
  private final String instance;
  private final boolean alone;
  private final Circuit.Ticket ticket;
  private final Runnable onExtended;
  private final Consumer<@Nullable RepeatCause> onEnd;
  private final AtomicBoolean ended = new AtomicBoolean();
  private final AtomicBoolean acked = new AtomicBoolean();
  // By System.nanoTime(); written by the one thread that reads the answer.
  private volatile @Nullable Long extendedUntil;

  /**
   * Makes one.
   *
   * @param onExtended told each time that the instance says it goes on
   * @param onEnd told once, unless it is taken back, why nobody knows how it ended; null if the
   *     instance said it
   */
  Attempt(
      Delivery delivery,
      String instance,
      boolean alone,
      Circuit.Ticket ticket,
      Runnable onExtended,
      Consumer<@Nullable RepeatCause> onEnd) {
    this.delivery = delivery;
    this.instance = instance;
    this.alone = alone;
    this.ticket = ticket;
    this.onExtended = onExtended;
    this.onEnd = onEnd;
  }

  Delivery delivery() {
    return delivery;
  }

  /**
   * Lets it take that much longer than now; nothing once it has ended. Blocks until the store knows
   * that somebody is at work.
   */
  void extend(Duration timeToRun) {
    if (isEnded()) {
      return;
    }
    // First: its watch may be about to look.
    long until = System.nanoTime() + timeToRun.toNanos();
    Long before = extendedUntil;
    if (before == null || until - before > 0) {
      extendedUntil = until;
    }
    onExtended.run();
    try {
      var unused = delivery.extend(timeToRun);
    } catch (StoreException e) {
      log.debug("The lease of {} was not renewed out of turn", delivery.taskId(), e);
    }
  }

  /** How long it may take beyond its time-to-run; null or less than zero if it may not. */
  @Nullable Duration extension() {
    Long until = extendedUntil;
    return until == null ? null : Duration.ofNanos(until - System.nanoTime());
  }

  boolean isEnded() {
    return ended.get();
  }

  void done() {
    boolean first = end();
    if (acked.compareAndSet(false, true)) {
      var unused = delivery.done();
    }
    if (first) {
      succeeded();
    }
  }

  void failed(String error, @Nullable Duration delay) {
    if (end()) {
      var unused = delivery.failed(instance, error, delay);
      ticket.failed(instance);
      onEnd.accept(null);
    }
  }

  /** It goes on without the instance, and must be ended by its token within that time. */
  void deferred(Duration within) {
    if (end()) {
      var unused = delivery.deferred(within);
      succeeded();
    }
  }

  void rejected(String error) {
    if (end()) {
      var unused = delivery.rejected(instance, error);
      succeeded();
    }
  }

  void unknown(String error, RepeatCause cause) {
    if (end()) {
      var unused = delivery.unknown(instance, error, alone, cause);
      ticket.unknown(instance);
      onEnd.accept(cause);
    }
  }

  void undeliverable(String error) {
    if (end()) {
      var unused = delivery.undeliverable(instance, error, null);
      ticket.withdrawn();
      onEnd.accept(null);
    }
  }

  private void succeeded() {
    ticket.succeeded();
    onEnd.accept(null);
  }

  /**
   * Ends it here without a result, so that another instance may be tried.
   *
   * @return false if it ended before, its time being over: then there is nothing left to try
   */
  boolean takeBack() {
    return end();
  }

  private boolean end() {
    return ended.compareAndSet(false, true);
  }
}
