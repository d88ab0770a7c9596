package io.punctual.systemtest;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;

/**
 * Submits jobs one by one at a steady rate, to all schedulers in turn. What one of them does not
 * acknowledge is sent to the others, which is safe since a job is known by its id.
 */
public final class Load implements AutoCloseable {

  private static final int ROUNDS = 5;

  private final Submitter submitter;
  private final List<String> schedulers;
  private final String prefix;
  private final String what;
  private final String retry;
  private final Duration minDelay;
  private final Duration maxDelay;
  private final ScheduledExecutorService pace = Executors.newSingleThreadScheduledExecutor();
  private final ExecutorService senders = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicInteger sent = new AtomicInteger();

  /**
   * @param schedulers their addresses
   * @param prefix of the task ids
   * @param what the worker shall do
   * @param retry the jobs' retry policy
   * @param minDelay from submit to due time, at least
   * @param maxDelay and at most
   */
  public Load(
      Submitter submitter,
      List<String> schedulers,
      String prefix,
      String what,
      String retry,
      Duration minDelay,
      Duration maxDelay) {
    this.submitter = submitter;
    this.schedulers = List.copyOf(schedulers);
    this.prefix = prefix;
    this.what = what;
    this.retry = retry;
    this.minDelay = minDelay;
    this.maxDelay = maxDelay;
  }

  /** Begins; goes on until {@link #close}. */
  public Load start(int perSecond) {
    var unused =
        pace.scheduleAtFixedRate(
            () -> senders.execute(this::sendNext),
            0,
            TimeUnit.SECONDS.toMicros(1) / perSecond,
            TimeUnit.MICROSECONDS);
    return this;
  }

  /** How many were begun. */
  public int sent() {
    return sent.get();
  }

  private void sendNext() {
    int number = sent.getAndIncrement();
    long delay = RandomGenerator.getDefault().nextLong(minDelay.toMillis(), maxDelay.toMillis());
    long due = System.currentTimeMillis() + delay;
    for (int i = 0; i < ROUNDS * schedulers.size(); i++) {
      String scheduler = schedulers.get((number + i) % schedulers.size());
      if (submitter.submitOne(scheduler, prefix + number, what, due, retry)) {
        return;
      }
    }
  }

  /** Ends, after every submit that was begun got its answer. */
  @Override
  public void close() {
    pace.close();
    senders.close();
  }
}
