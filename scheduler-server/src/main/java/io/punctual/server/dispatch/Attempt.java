package io.punctual.server.dispatch;

import io.punctual.core.engine.Delivery;
import io.punctual.core.engine.RepeatCause;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A delivery on its way to one instance. The first ending counts; afterwards only a late 'done' is
 * passed on, since the work is done then, whoever gave up on it before.
 */
final class Attempt {

  private final Delivery delivery;
  private final String instance;
  private final boolean alone;
  private final Circuit.Ticket ticket;
  private final Consumer<@Nullable RepeatCause> onEnd;
  private final AtomicBoolean ended = new AtomicBoolean();
  private final AtomicBoolean acked = new AtomicBoolean();

  /**
   * Makes one.
   *
   * @param onEnd told once, unless it is taken back, why nobody knows how it ended; null if the
   *     instance said it
   */
  Attempt(
      Delivery delivery,
      String instance,
      boolean alone,
      Circuit.Ticket ticket,
      Consumer<@Nullable RepeatCause> onEnd) {
    this.delivery = delivery;
    this.instance = instance;
    this.alone = alone;
    this.ticket = ticket;
    this.onEnd = onEnd;
  }

  Delivery delivery() {
    return delivery;
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
