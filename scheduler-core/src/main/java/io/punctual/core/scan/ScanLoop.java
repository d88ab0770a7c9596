package io.punctual.core.scan;

import io.punctual.core.job.Bucket;
import io.punctual.core.wake.WakeSignal;
import io.punctual.core.work.Context;
import io.punctual.core.work.Defects;
import io.punctual.core.work.Threads;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Runs a scanner, from its start until it is stopped. If threads are cheap, each scanner has its
 * own thread. Otherwise the scanners of one node of the store share as many threads as may call
 * that node at the same time, and a sleeping scanner has none.
 */
public final class ScanLoop {

  private final Bucket bucket;
  private final Scanner scanner;
  private final WakeSignal signal;
  private final Context context;
  private final ScanCount count;
  private final String duty;
  private final CountDownLatch over = new CountDownLatch(1);
  private volatile boolean started;
  private volatile boolean stopping;
  private boolean asleep;
  private @Nullable Future<?> alarm;

  public ScanLoop(Bucket bucket, Scanner scanner, WakeSignal signal, ScanContext shared) {
    this.bucket = bucket;
    this.scanner = scanner;
    this.signal = signal;
    this.context = shared.context();
    this.count = shared.scanners();
    this.duty = "Waking the scanner of " + bucket;
  }

  public synchronized void start() {
    if (started || stopping) {
      return;
    }
    Threads threads = context.threads();
    if (threads.areCheap()) {
      threads.start("punctual-scanner-" + bucket, this::run);
    } else {
      share();
    }
    // Not before: a scanner whose thread could not be started is started again.
    started = true;
    count.started();
  }

  /** Ends with the present turn, which claims no more; returns at once. */
  public void stop() {
    stopping = true;
    scanner.stop();
  }

  /** Whether it was started. */
  public boolean isStarted() {
    return started;
  }

  /** Waits for the last turn to end. */
  public void join(Duration patience) throws InterruptedException {
    if (started) {
      var unused = over.await(patience.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private void run() {
    try {
      while (!stopping) {
        turn();
      }
    } finally {
      end();
    }
  }

  private void end() {
    try {
      count.ended(bucket, stopping);
    } finally {
      over.countDown();
    }
  }

  private void turn() {
    try {
      long next = scanner.turn(context.now());
      signal.sleep(next - context.now());
    } catch (RuntimeException | Error e) {
      context.defects().met(duty, e);
      LockSupport.parkNanos(Threads.AGAIN_NANOS);
    }
  }

  private void share() {
    context.threads().share(context.jobs().node(bucket), ScanPermits.AT_ONCE, this::step);
  }

  private void step() {
    if (stopping) {
      end();
      return;
    }
    try {
      if (!sleepsUntil(scanner.turn(context.now()))) {
        share();
      }
    } catch (RuntimeException | Error e) {
      context.defects().met(duty, e);
      context.threads().runAfter(Threads.AGAIN_NANOS, this::share);
    }
  }

  /** Whether it sleeps now, and is woken by its signal or by the time. */
  private synchronized boolean sleepsUntil(long next) {
    long wait = next - context.now();
    asleep = wait > 0 && signal.call(this::wake);
    if (asleep) {
      Defects defects = context.defects();
      try {
        alarm = context.threads().alarm(wait, this::wake);
        defects.worked(duty);
      } catch (RejectedExecutionException e) {
        // Closed: nothing wakes it any more.
        stopping = true;
        asleep = false;
      } catch (RuntimeException | Error e) {
        defects.met(duty, e);
        asleep = false;
      }
    }
    return asleep;
  }

  private void wake() {
    synchronized (this) {
      if (!asleep) {
        return;
      }
      asleep = false;
      if (alarm != null) {
        alarm.cancel(false);
      }
    }
    share();
  }
}
