package io.punctual.internal;

import io.punctual.LeaseLostException;
import io.punctual.TaskContext;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An attempt that begins on this thread, as its worker sees it. */
public final class RunningAttempt implements TaskContext {

  private final String taskType;
  private final String taskId;
  private final String incarnation;
  private final int attempt;
  private final Instant dueAt;
  private final Instant lateSince;
  private final Map<String, String> headers;
  private final InstantSource clock;
  private final Instant startedAt;
  private final TimeLimit limit;
  private final AttemptLease lease;
  private volatile Instant deadline;
  // By System.nanoTime().
  private volatile @Nullable Long deferredUntil;

  /**
   * An attempt that begins.
   *
   * @param dueTime epoch ms at which the job was due at first
   * @param lateSince epoch ms from which on the attempt is late
   * @param clock shows when it begins
   * @param limit what ends it early
   * @param lease what it asks for more time
   */
  public RunningAttempt(
      String taskType,
      String taskId,
      String incarnation,
      int attempt,
      long dueTime,
      long lateSince,
      Map<String, String> headers,
      InstantSource clock,
      TimeLimit limit,
      AttemptLease lease) {
    this.taskType = taskType;
    this.taskId = taskId;
    this.incarnation = incarnation;
    this.attempt = attempt;
    this.dueAt = Instant.ofEpochMilli(dueTime);
    this.lateSince = Instant.ofEpochMilli(lateSince);
    this.headers = headers;
    this.clock = clock;
    this.startedAt = clock.instant();
    this.deadline = startedAt.plus(limit.timeToRun());
    this.limit = limit;
    this.lease = lease;
  }

  @Override
  public String taskId() {
    return taskId;
  }

  @Override
  public String incarnation() {
    return incarnation;
  }

  @Override
  public String taskType() {
    return taskType;
  }

  @Override
  public int attempt() {
    return attempt;
  }

  @Override
  public Instant dueAt() {
    return dueAt;
  }

  @Override
  public Duration lateness() {
    Duration late = Duration.between(lateSince, startedAt);
    return late.isNegative() ? Duration.ZERO : late;
  }

  @Override
  public Instant deadline() {
    return deadline;
  }

  @Override
  public void extend(Duration timeToRun) {
    Limits.requireTimeToRun(timeToRun);
    requireNotStopped();
    try {
      lease.extend(timeToRun);
    } catch (LeaseLostException e) {
      limit.lose();
      throw e;
    }
    if (!limit.extend(timeToRun)) {
      requireNotStopped();
      throw new IllegalStateException(this + " has ended, and needs no more time");
    }
    synchronized (this) {
      Instant later = clock.instant().plus(timeToRun);
      deadline = later.isAfter(deadline) ? later : deadline;
    }
  }

  @Override
  public String defer(Duration within) {
    Limits.requireDeferral(within);
    requireNotStopped();
    long until = System.nanoTime() + within.toNanos();
    String handle;
    try {
      handle = lease.defer(within);
    } catch (LeaseLostException e) {
      limit.lose();
      throw e;
    }
    // Before somebody else ends it by the handle, and the lease is seen to be gone.
    limit.keepWhenLost();
    synchronized (this) {
      Long before = deferredUntil;
      deferredUntil = before == null || until - before > 0 ? until : before;
    }
    return handle;
  }

  /** For how long from now it was deferred; null if it was not. */
  public @Nullable Duration deferred() {
    Long until = deferredUntil;
    return until == null
        ? null
        : Duration.ofNanos(Math.max(Limits.MIN_TIME_TO_RUN.toNanos(), until - System.nanoTime()));
  }

  private void requireNotStopped() {
    String why = limit.why();
    if (why != null) {
      throw new LeaseLostException(this + " was stopped: " + why);
    }
  }

  @Override
  public Map<String, String> headers() {
    return Map.copyOf(headers);
  }

  @Override
  public boolean isCancelled() {
    return limit.struck();
  }

  @Override
  public void onCancel(Runnable action) {
    limit.onStrike(action);
  }

  @Override
  public String toString() {
    return "attempt " + attempt + " of " + taskType + "/" + taskId;
  }
}
