package io.punctual.client.lease;

import io.punctual.LeaseLostException;
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
  private boolean over;
  private WeakReference<@Nullable JobLease> deferredBy = new WeakReference<>(null);

  public LeaseRelay(JobLease first) {
    this.current = first;
    watch(first);
  }

  /** From now on another lease counts; whoever keeps it hears of the time that was asked for. */
  public void follow(JobLease next) {
    long left;
    synchronized (this) {
      if (current == null) {
        return;
      }
      current = next;
      left = until - System.nanoTime();
    }
    watch(next);
    if (left > 0) {
      next.remind(Duration.ofNanos(left));
    }
  }

  private void watch(JobLease lease) {
    lease.onLost(() -> lost(lease));
  }

  private void lost(JobLease lease) {
    Runnable action;
    synchronized (this) {
      action = lease == current ? whenLost : () -> {};
    }
    action.run();
  }

  /** The run has ended. */
  public synchronized void release() {
    current = null;
    whenLost = () -> {};
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
      over = true;
      held = current;
    }
    if (held != null) {
      held.timeOver(timeToRun);
    }
  }

  /** Whether the run's time is over: what watched it watches no more. */
  public synchronized boolean isOver() {
    return over;
  }

  @Override
  public synchronized void onLost(Runnable action) {
    whenLost = action;
  }
}
