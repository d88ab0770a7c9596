package io.punctual.server.dispatch;

import io.punctual.core.Delivery;
import io.punctual.core.RepeatCause;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.StoreException;
import io.punctual.server.dispatch.callback.Attempt;
import io.punctual.server.dispatch.circuit.Circuit;
import io.punctual.server.registry.WorkerInstance;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A delivery that is with one instance: opened when the instance is chosen, closed exactly once. It
 * alone tells the engine, the tracker of instances, the circuit and the affinity what became of the
 * delivery. After its end only a late {@link #done} is passed on.
 */
final class InFlight implements Attempt {

  private static final Logger log = LoggerFactory.getLogger(InFlight.class);

  private final InFlights owner;
  private final Delivery delivery;
  private final WorkerInstance instance;
  private final InstanceTracker.Slot slot;
  private final Circuit.Ticket ticket;
  private final AtomicBoolean open = new AtomicBoolean(true);
  private volatile boolean stopping;
  private boolean sending;
  private boolean aloneInCall;
  private long sentAt;
  // By System.nanoTime(); written by the one thread that reads the answer.
  private volatile @Nullable Long extendedUntil;

  InFlight(
      InFlights owner,
      Delivery delivery,
      WorkerInstance instance,
      InstanceTracker.Slot slot,
      Circuit.Ticket ticket) {
    this.owner = owner;
    this.delivery = delivery;
    this.instance = instance;
    this.slot = slot;
    this.ticket = ticket;
  }

  @Override
  public Delivery delivery() {
    return delivery;
  }

  WorkerInstance instance() {
    return instance;
  }

  /** When it was sent, by the clock of {@link InFlights}. */
  long sentAt() {
    return sentAt;
  }

  /**
   * It is about to be sent.
   *
   * @param alone whether no other job is in the call
   */
  void sending(boolean alone) {
    sending = true;
    aloneInCall = alone;
    sentAt = owner.now();
    owner.affinity().started(delivery.incarnation(), instance.id());
    delivery.started();
  }

  /** Its job was cancelled: the instance is told so. */
  void stop() {
    stopping = true;
    if (!isEnded()) {
      owner.stop(this);
    }
  }

  @Override
  public boolean isEnded() {
    return !open.get();
  }

  @Override
  public void extend(Duration timeToRun) {
    if (isEnded()) {
      return;
    }
    // First: its watch may be about to look.
    long until = System.nanoTime() + timeToRun.toNanos();
    Long before = extendedUntil;
    if (before == null || until - before > 0) {
      extendedUntil = until;
    }
    // That it is at long work is an answer, too.
    owner.tracker().answered(instance);
    try {
      var unused = delivery.extend(timeToRun);
    } catch (StoreException e) {
      log.debug("The lease of {} was not renewed out of turn", delivery.taskId(), e);
    }
  }

  @Override
  public @Nullable Duration extension() {
    Long until = extendedUntil;
    return until == null ? null : Duration.ofNanos(until - System.nanoTime());
  }

  @Override
  public void done() {
    if (!close()) {
      // Closed before: only the delivery still takes this end.
      var unused = delivery.done(instance.id());
      return;
    }
    leave(
        () -> {
          var unused = delivery.done(instance.id());
          ticket.succeeded();
          answered();
          count(Settlement.Op.DONE);
        });
  }

  /** It ended as an attempt. */
  private void count(Settlement.Op how) {
    slot.ended(how == Settlement.Op.DONE, sending ? owner.now() - sentAt : 0);
    owner.attempts().ended(instance, how);
  }

  @Override
  public void failed(String error, @Nullable Duration delay) {
    end(
        () -> {
          var unused = delivery.failed(instance.error(error), delay);
          // An operator stopped it: the worker is not to blame.
          if (!stopping) {
            ticket.failed(instance.id());
            count(Settlement.Op.FAILED);
          }
          answered();
        });
  }

  @Override
  public void deferred(Duration within) {
    end(
        () -> {
          var unused = delivery.deferred(within);
          ticket.succeeded();
          answered();
        });
  }

  @Override
  public void rejected(String error) {
    end(
        () -> {
          var unused = delivery.rejected(instance.error(error));
          ticket.succeeded();
          answered();
          count(Settlement.Op.REJECTED);
        });
  }

  @Override
  public void refused(String error) {
    end(
        () -> {
          var unused = delivery.undeliverable(instance.error(error), null);
          answered();
        });
  }

  @Override
  public void timeOver(String error) {
    end(
        () -> {
          var unused = delivery.unknown(instance.error(error), aloneInCall, RepeatCause.TIME_OVER);
          ticket.unknown(instance.id());
          owner.timeOver(this);
          lost(RepeatCause.TIME_OVER);
        });
  }

  @Override
  public void connectionBroke(String error) {
    if (!close()) {
      return;
    }
    InstanceTracker.Break broken = slot.broke();
    // If the process there ended, the job can be the cause only if it was alone.
    boolean mayBeCause = broken.alone() && aloneInCall;
    boolean alone = false;
    try {
      // First: other schedulers are waited for.
      leave(
          () -> {
            ticket.unknown(instance.id());
            lost(RepeatCause.ANSWER_LOST);
          });
      alone = mayBeCause && owner.shared().brokeHereOnly(instance);
    } finally {
      var unused = delivery.unknown(instance.error(error), alone, RepeatCause.ANSWER_LOST);
    }
    if (broken.news() && !mayBeCause) {
      owner.shared().broke(instance);
    }
  }

  @Override
  public void badAnswer(String error) {
    end(
        () -> {
          var unused =
              delivery.unknown(instance.error(error), aloneInCall, RepeatCause.ANSWER_LOST);
          ticket.unknown(instance.id());
          lost(RepeatCause.ANSWER_LOST);
        });
  }

  /**
   * It was not sent, and its delivery is its caller's again.
   *
   * @return false if it ended before, its time being over: then there is nothing left to send
   */
  boolean withdraw() {
    if (!close()) {
      return false;
    }
    leave(
        () -> {
          if (sending) {
            owner.affinity().notSent(delivery.incarnation(), instance.id());
          }
        });
    return true;
  }

  private boolean close() {
    return open.compareAndSet(true, false);
  }

  private void end(Runnable tell) {
    if (close()) {
      leave(tell);
    }
  }

  /** Books the job out at the instance, whatever is thrown meanwhile. */
  private void leave(Runnable tell) {
    try {
      tell.run();
    } finally {
      // Has no effect if the ticket has ended already.
      ticket.withdrawn();
      slot.close();
      owner.left(this);
    }
  }

  private void answered() {
    owner.affinity().ended(delivery.incarnation(), instance.id(), null);
    owner.tracker().answered(instance);
  }

  private void lost(RepeatCause cause) {
    owner.affinity().ended(delivery.incarnation(), instance.id(), cause);
    count(Settlement.Op.UNKNOWN);
  }
}
