package io.punctual.systemtest.linearizability;

import io.punctual.core.ClaimToken;
import io.punctual.core.Claims;
import io.punctual.core.Delivery;
import io.punctual.core.Dispatcher;
import io.punctual.core.Engine;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.RepeatCause;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Settled;
import io.punctual.systemtest.EpochMicros;
import io.punctual.systemtest.linearizability.Action.Ending;
import io.punctual.systemtest.linearizability.Answer.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Takes the jobs of one engine, pushed and pulled, and ends them in all ways, mostly well. */
final class EngineWorker implements Dispatcher, Runnable {

  /** As of an engine's claims. */
  static final Duration LEASE = Duration.ofSeconds(1);

  private static final int QUICK_MILLIS = 25;
  private static final int SLOW_MILLIS = 500;
  private static final int OVERSTAYED_MILLIS = 1_500;
  private static final int MOST_OVERSTAYING = 6;
  private static final Duration PATIENCE = Duration.ofMillis(40);
  private static final End DONE = new End(Ending.DONE, 0);
  private static final long[] DELAYS_MILLIS = {0, 30, 120_000};

  private final String name;
  private final Recorder recorder;
  private final Random random;
  private final ScheduledExecutorService timer;
  private final Supplier<Engine> engine;
  private final AtomicBoolean ended;
  // Of ten jobs that are pulled.
  private final int overstaying;
  private volatile boolean wellOnly;

  /**
   * @param engine that is there now
   * @param ended when it pulls no more
   */
  EngineWorker(
      String name,
      Recorder recorder,
      long seed,
      ScheduledExecutorService timer,
      Supplier<Engine> engine,
      AtomicBoolean ended) {
    this.name = name;
    this.recorder = recorder;
    this.random = new Random(seed);
    this.overstaying = random.nextInt(MOST_OVERSTAYING + 1);
    this.timer = timer;
    this.engine = engine;
    this.ended = ended;
  }

  /** From now on all jobs are done. */
  void endsAllWell() {
    wellOnly = true;
  }

  @Override
  public int capacity(QueueName queue) {
    return 100;
  }

  @Override
  public void dispatch(QueueName queue, List<Delivery> deliveries) {
    for (Delivery delivery : deliveries) {
      ClaimToken token = delivery.token();
      recorder.delivered(
          name + "/push",
          token.taskId(),
          new Action.Deliver(
              token.text(),
              token.incarnation(),
              delivery.content().params(),
              delivery.attempt(),
              LEASE.toNanos() / 1000,
              /* pulled= */ false));
      End end = end();
      after(millis(/* pulled= */ false), () -> end(delivery, end));
      if (contradicts(end)) {
        after(millis(/* pulled= */ true), () -> end(delivery, DONE));
      }
    }
  }

  private record End(Ending ending, long delayMillis) {}

  /** Whether it is told that it is done as well, as by an answer that came late. */
  private synchronized boolean contradicts(End end) {
    return end.ending() != Ending.DONE && random.nextInt(3) == 0;
  }

  private void after(long millis, Runnable action) {
    var unused = timer.schedule(action, millis, TimeUnit.MILLISECONDS);
  }

  private synchronized End end() {
    if (wellOnly) {
      return DONE;
    }
    int dice = random.nextInt(100);
    long delay = DELAYS_MILLIS[random.nextInt(DELAYS_MILLIS.length)];
    return dice < 50
        ? DONE
        : dice < 60
            ? new End(Ending.FAILED, delay)
            : dice < 80
                ? new End(Ending.REJECTED, 0)
                : dice < 86
                    ? new End(Ending.RELEASED, delay)
                    : dice < 92 ? new End(Ending.RETURNED, 0) : new End(Ending.UNKNOWN, -1);
  }

  /** How long a job takes; one that is pulled may take longer than its lease. */
  private synchronized long millis(boolean pulled) {
    if (pulled && random.nextInt(10) < overstaying) {
      return random.nextLong(LEASE.toMillis(), OVERSTAYED_MILLIS);
    }
    return random.nextInt(random.nextInt(5) == 0 ? SLOW_MILLIS : QUICK_MILLIS);
  }

  private void end(Delivery delivery, End chosen) {
    // A dispatcher has one word for both.
    End end = chosen.ending() == Ending.RELEASED ? new End(Ending.RETURNED, 0) : chosen;
    ClaimToken token = delivery.token();
    Action.End action =
        new Action.End(token.text(), token.incarnation(), end.ending(), end.delayMillis() * 1000);
    long invoked = EpochMicros.now();
    CompletableFuture<Void> stored =
        switch (end.ending()) {
          case DONE -> delivery.done();
          case FAILED ->
              delivery.failed(new ErrorNote(name, "busy"), Duration.ofMillis(end.delayMillis()));
          case REJECTED -> delivery.rejected(new ErrorNote(name, "never"));
          case RELEASED, RETURNED -> delivery.release();
          case UNKNOWN ->
              delivery.unknown(new ErrorNote(name, "cut"), false, RepeatCause.ANSWER_LOST);
        };
    var unused =
        stored.whenComplete(
            (nothing, error) -> {
              if (error == null) {
                recorder.add(name, token.taskId(), action, Answer.of(Outcome.HAPPENED), invoked);
              } else {
                recorder.open(name, token.taskId(), action, invoked);
              }
            });
  }

  /** Pulls. */
  @Override
  public void run() {
    while (!ended.get()) {
      PullRequest request =
          new PullRequest(List.of(EngineCalls.QUEUE), 2, PATIENCE, LEASE, "puller");
      try {
        Claims claims = engine.get().claims();
        List<PulledJob> jobs = claims.pull(request).get(5, TimeUnit.SECONDS);
        jobs.forEach(this::pulled);
        claims.received(jobs);
      } catch (InterruptedException e) {
        return;
      } catch (Exception e) {
        // Redis is away; what was claimed all the same is given back, or its lease runs out.
        java.util.concurrent.locks.LockSupport.parkNanos(PATIENCE.toNanos());
      }
    }
  }

  private void pulled(PulledJob job) {
    ClaimToken token = job.token();
    recorder.delivered(
        name + "/pull",
        token.taskId(),
        new Action.Deliver(
            token.text(),
            token.incarnation(),
            job.content().params(),
            job.attempt(),
            LEASE.toNanos() / 1000,
            /* pulled= */ true));
    End end = end();
    after(millis(/* pulled= */ true), () -> end(token, end));
    if (contradicts(end)) {
      after(millis(/* pulled= */ true), () -> end(token, DONE));
    }
  }

  private void end(ClaimToken token, End end) {
    // A puller has no word for it.
    Ending ending = end.ending() == Ending.UNKNOWN ? Ending.FAILED : end.ending();
    Duration delay = end.delayMillis() < 0 ? null : Duration.ofMillis(end.delayMillis());
    Action.End action =
        new Action.End(
            token.text(), token.incarnation(), ending, delay == null ? -1 : delay.toNanos() / 1000);
    long invoked = EpochMicros.now();
    try {
      var unused =
          settle(token, ending, delay)
              .whenComplete((settled, error) -> settled(token, action, settled, invoked));
    } catch (RuntimeException e) {
      recorder.open(name, token.taskId(), action, invoked);
    }
  }

  private CompletableFuture<Settled> settle(
      ClaimToken token, Ending ending, @Nullable Duration delay) {
    Claims claims = engine.get().claims();
    return switch (ending) {
      case DONE -> claims.done(token);
      case FAILED, UNKNOWN -> claims.failed(token, name, "busy", delay);
      case REJECTED -> claims.rejected(token, name, "never");
      case RELEASED -> claims.release(token, delay == null ? Duration.ZERO : delay);
      case RETURNED -> claims.giveBack(token);
    };
  }

  private void settled(
      ClaimToken token, Action.End action, @Nullable Settled settled, long invoked) {
    if (settled == null) {
      recorder.open(name, token.taskId(), action, invoked);
      return;
    }
    Outcome outcome =
        switch (settled.kind()) {
          case DONE -> Outcome.ENDED;
          case ALREADY_DONE -> Outcome.ALREADY;
          case UNKNOWN -> Outcome.GONE;
          case LEASE_LOST -> Outcome.LEASE_LOST;
          case RETRY -> Outcome.RETRIED;
          case DEAD, EXPIRED, DROPPED -> Outcome.DEAD;
          case CANCELLED -> throw new IllegalStateException();
        };
    Answer answer = Answer.of(outcome);
    recorder.add(
        name,
        token.taskId(),
        action,
        settled.kind() == Settled.Kind.RETRY ? answer.due(settled.at() * 1000) : answer,
        invoked);
  }
}
