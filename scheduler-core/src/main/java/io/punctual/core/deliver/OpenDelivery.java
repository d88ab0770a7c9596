package io.punctual.core.deliver;

import io.punctual.core.ClaimToken;
import io.punctual.core.Delivery;
import io.punctual.core.QueueListener;
import io.punctual.core.RepeatCause;
import io.punctual.core.job.AttemptCounts;
import io.punctual.core.job.Ending;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.ClaimedJob;
import io.punctual.core.store.Lease;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A delivery from its claim until the store has its end. */
public final class OpenDelivery implements Delivery {

  private static final long NEVER = -1;

  private final QueueName queue;
  private final ClaimedJob job;
  private final JobContent content;
  private final RetryDelays retryDelays;
  private final Settler settler;
  private final LeaseKeeper keeper;
  private final LongSupplier ticks;
  private final ClaimTime claimed;
  private volatile long leaseUntil;
  private volatile boolean lost;
  private volatile boolean held;
  private volatile long startedAt = NEVER;
  private volatile long endedAt;
  private final AtomicReference<Runnable> whenLost = new AtomicReference<>(() -> {});
  private volatile Runnable whenCancelling = () -> {};
  private volatile boolean cancelling;
  private final AtomicInteger toldToStop = new AtomicInteger();
  private volatile long allowedUntil;
  private final AtomicBoolean lossTold = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();
  private @Nullable CompletableFuture<Void> end;
  private @Nullable CompletableFuture<Void> ack;

  public OpenDelivery(
      QueueName queue,
      ClaimedJob job,
      JobContent content,
      RetryDelays retryDelays,
      Settler settler,
      LeaseKeeper keeper,
      LongSupplier ticks,
      ClaimTime claimed,
      Duration lease) {
    this.queue = queue;
    this.job = job;
    this.content = content;
    this.retryDelays = retryDelays;
    this.settler = settler;
    this.keeper = keeper;
    this.ticks = ticks;
    this.claimed = claimed;
    this.leaseUntil = claimed.sent() + lease.toNanos();
    Duration allowed =
        content.timeToRun() != null ? content.timeToRun() : Limits.DEFAULT_TIME_TO_RUN;
    this.allowedUntil = claimed.sent() + allowed.toNanos();
  }

  @Override
  public QueueName queue() {
    return queue;
  }

  @Override
  public String taskId() {
    return job.taskId();
  }

  @Override
  public String incarnation() {
    return job.record().incarnation();
  }

  @Override
  public int attempt() {
    return job.attempt();
  }

  @Override
  public long version() {
    return job.version();
  }

  @Override
  public long claimedAt() {
    return claimed.stored();
  }

  @Override
  public long dueTime() {
    return job.dueTime();
  }

  @Override
  public long lateSince() {
    return claimed.lateSince(job);
  }

  @Override
  public long waited() {
    return claimed.waited(job);
  }

  @Override
  public JobContent content() {
    return content;
  }

  @Override
  public AttemptCounts tries() {
    return job.tries();
  }

  @Override
  public boolean travelsAlone() {
    return job.tries().suspect();
  }

  @Override
  public void started() {
    startedAt = ticks.getAsLong();
  }

  @Override
  public Duration leaseLeft() {
    return lost ? Duration.ZERO : Duration.ofNanos(Math.max(0, leaseUntil - ticks.getAsLong()));
  }

  @Override
  public ClaimToken token() {
    return new ClaimToken(queue, job.taskId(), job.record().incarnation(), job.token());
  }

  @Override
  public boolean hold(Duration within) {
    keeper.renew(this, within);
    // Once held, it stays so: that somebody has ended it by then is as it should be.
    held |= !lost;
    return !lost;
  }

  @Override
  public boolean extend(Duration timeToRun) {
    keeper.renew(this, Duration.ZERO);
    allowedUntil = Math.max(allowedUntil, ticks.getAsLong() + timeToRun.toNanos());
    return !lost;
  }

  @Override
  public void onLost(Runnable action) {
    whenLost.set(action);
    if (lost) {
      tellLost();
    }
  }

  private void tellLost() {
    whenLost.getAndSet(() -> {}).run();
  }

  @Override
  public void onCancelling(Runnable action) {
    whenCancelling = action;
    if (cancelling) {
      action.run();
    }
  }

  /**
   * Its job is to be cancelled.
   *
   * @return how often that was told before
   */
  int cancelling() {
    cancelling = true;
    whenCancelling.run();
    return toldToStop.getAndIncrement();
  }

  @Override
  public CompletableFuture<Void> done(String instance) {
    synchronized (this) {
      if (ack == null) {
        Settlement done =
            retryDelays.done(job, new Ending(attempt(), claimedAt(), claimed.late(job), instance));
        // A late ack of a delivery that ended otherwise is extra; the first ending closes it.
        ack = end == null ? endWith(done, null) : stored(settler.keep(done));
      }
      return ack;
    }
  }

  @Override
  public CompletableFuture<Void> failed(ErrorNote note, @Nullable Duration delay) {
    return endWith(retryDelays.failed(job, content, note, delay), RepeatCause.FAILED);
  }

  @Override
  public CompletableFuture<Void> unknown(
      ErrorNote note, boolean travelledAlone, RepeatCause cause) {
    return endWith(retryDelays.unknown(job, content, note, travelledAlone), cause);
  }

  @Override
  public CompletableFuture<Void> undeliverable(ErrorNote note, @Nullable Duration delay) {
    return endWith(retryDelays.undeliverable(job, content, note, delay), null);
  }

  @Override
  public CompletableFuture<Void> release() {
    return endWith(retryDelays.returned(job), null);
  }

  @Override
  public CompletableFuture<Void> deferred(Duration within) {
    synchronized (this) {
      if (end != null) {
        return end;
      }
      endedAt = ticks.getAsLong();
      end = keeper.defer(this, endedAt + within.toNanos());
      return end;
    }
  }

  @Override
  public CompletableFuture<Void> rejected(ErrorNote note) {
    return endWith(retryDelays.rejected(job, note), null);
  }

  /** Bytes of the content, as it is stored. */
  public int bytes() {
    return job.record().content().length;
  }

  public Lease lease() {
    return new Lease(job.taskId(), job.token());
  }

  /**
   * The lease was extended.
   *
   * @param sent monotonic ns, before the call
   */
  void extended(long sent, Duration lease) {
    leaseUntil = Math.max(leaseUntil, sent + lease.toNanos());
  }

  /** The lease is somebody else's, or nobody's. */
  void lose() {
    lost = true;
    tellLost();
  }

  /** Whether its lease may have run out, and the store did not say so. */
  boolean lapsed() {
    return !lost && ticks.getAsLong() >= leaseUntil;
  }

  public boolean lost() {
    return lost;
  }

  /** Whether the lease is lost and nobody was told yet; they are now. */
  boolean tellsLoss() {
    return lost && tellsLossAtEnd();
  }

  /** The lease turned out to be lost when the end was written. */
  boolean tellsLossAtEnd() {
    // Of a held one the lease goes when somebody ends it by its handle, as is right.
    return !held && lossTold.compareAndSet(false, true);
  }

  /** Tells how late it was with somebody, and for how long, once that has ended. */
  void tell(QueueListener listener) {
    long started = startedAt;
    if (started == NEVER) {
      return;
    }
    if (job.attempt() == 1) {
      listener.delivered(claimed.lateness(job, started));
    }
    listener.ran(endedAt - started);
  }

  /** How long it has been open beyond what its attempt may take. */
  Duration overdue(long now) {
    return Duration.ofNanos(now - allowedUntil);
  }

  private CompletableFuture<Void> endWith(Settlement settlement, @Nullable RepeatCause cause) {
    synchronized (this) {
      if (end != null) {
        return end;
      }
      endedAt = ticks.getAsLong();
      end = stored(settler.end(this, settlement, cause));
      return end;
    }
  }

  private static CompletableFuture<Void> stored(CompletableFuture<Settled> settled) {
    return settled.thenAccept(any -> {});
  }

  /** Whether it closes now; false if it was closed before. */
  boolean closes() {
    return closed.compareAndSet(false, true);
  }
}
