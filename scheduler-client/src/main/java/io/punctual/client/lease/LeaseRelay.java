package io.punctual.client.lease;

import io.punctual.LeaseLostException;
import io.punctual.internal.TimeLimit;
import java.lang.ref.WeakReference;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The leases of a job that is delivered again while it runs, as after the death of a scheduler: the
 * newest counts. Once the run has ended it holds none: runs are remembered for longer than that.
 */
public final class LeaseRelay implements JobLease {

  private @Nullable JobLease current;
  private Runnable whenLost = () -> {};
  // By System.nanoTime(); what was asked for last.
  private long until = System.nanoTime();
  // By System.nanoTime(); when the time of the newest delivery ends.
  private long endsAt = System.nanoTime();
  private Runnable whenCancelled = () -> {};
  private boolean cancelled;
  private @Nullable TimeLimit limit;
  private boolean stopped;
  private WeakReference<@Nullable JobLease> deferredBy = new WeakReference<>(null);

  public LeaseRelay(JobLease first) {
    this.current = first;
    watch(first);
  }

  /** The run begins. */
  public void begin(TimeLimit limit) {
    long left;
    synchronized (this) {
      this.limit = limit;
      left = endsAt - System.nanoTime();
    }
    if (left > 0) {
      var unused = limit.prolong(Duration.ofNanos(left));
    }
  }

  /**
   * From now on the run is an attempt of another delivery, and has its time. Whoever keeps that
   * lease hears of what was asked for.
   *
   * @param timeToRun of that delivery
   * @return false, and nothing changed, if the run was stopped or has ended: it is no attempt of
   *     this delivery
   */
  public boolean follow(JobLease next, Duration timeToRun) {
    TimeLimit begun;
    synchronized (this) {
      begun = limit;
    }
    // Before the lease counts: the end of the earlier time is not told to it.
    if (begun != null && !begun.prolong(timeToRun)) {
      return false;
    }
    long left;
    synchronized (this) {
      if (stopped || current == null) {
        return false;
      }
      current = next;
      endsAt = System.nanoTime() + timeToRun.toNanos();
      left = until - System.nanoTime();
    }
    watch(next);
    if (left > 0) {
      next.remind(Duration.ofNanos(left));
    }
    return true;
  }

  private void watch(JobLease lease) {
    lease.onLost(() -> lost(lease));
    lease.onCancelled(
        () -> {
          if (isCurrent(lease)) {
            cancel();
          }
        });
  }

  private synchronized boolean isCurrent(JobLease lease) {
    return lease == current;
  }

  /** The job was cancelled: the run is to stop, at once if it has not begun. */
  public void cancel() {
    Runnable action;
    synchronized (this) {
      cancelled = true;
      action = whenCancelled;
    }
    action.run();
  }

  @Override
  public void onCancelled(Runnable action) {
    boolean now;
    synchronized (this) {
      whenCancelled = action;
      now = cancelled;
    }
    if (now) {
      action.run();
    }
  }

  private void lost(JobLease lease) {
    Runnable action;
    synchronized (this) {
      if (lease != current) {
        return;
      }
      stopped = true;
      action = whenLost;
    }
    action.run();
  }

  /** The run has ended. */
  public synchronized void release() {
    current = null;
    limit = null;
    whenLost = () -> {};
    whenCancelled = () -> {};
  }

  private synchronized JobLease held() {
    if (current == null) {
      throw new LeaseLostException("the attempt has ended");
    }
    return current;
  }

  @Override
  public void extend(Duration timeToRun) {
    held().extend(timeToRun);
    synchronized (this) {
      until = Math.max(until, System.nanoTime() + timeToRun.toNanos());
    }
  }

  @Override
  public String defer(Duration within) {
    JobLease asked = held();
    String handle = asked.defer(within);
    synchronized (this) {
      deferredBy = new WeakReference<>(asked);
    }
    return handle;
  }

  /** Whether it was this lease by which the job was left to somebody else. */
  public synchronized boolean isDeferredBy(JobLease lease) {
    return deferredBy.refersTo(lease);
  }

  @Override
  public void remind(Duration timeToRun) {
    held().remind(timeToRun);
  }

  @Override
  public void timeOver(Duration timeToRun) {
    JobLease held;
    synchronized (this) {
      stopped = true;
      held = current;
    }
    if (held != null) {
      held.timeOver(timeToRun);
    }
  }

  @Override
  public synchronized void onLost(Runnable action) {
    whenLost = action;
  }
}
