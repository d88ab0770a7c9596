package io.punctual.spring;

import io.punctual.PunctualException;
import io.punctual.SchedulerUnavailableException;
import io.punctual.spi.JobScheduler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Makes the calls of committed transactions on threads of its own. The thread of the transaction
 * still has its connection to the database then: were it to wait for schedulers that do not answer,
 * their outage would take all connections of the application.
 *
 * <p>Calls of one job are made in their order; one that concerns all jobs goes alone. Jobs are sent
 * together. A call that no scheduler takes is made again for a minute; so many calls are kept at
 * once at most. What fails is reported: it is logged as an error and counted.
 */
public final class CommitRelay implements CommittedCalls, SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(CommitRelay.class);
  private static final Duration KEPT = Duration.ofMinutes(1);
  private static final Duration MIN_PAUSE = Duration.ofSeconds(1);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(15);
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int MAX_CALLS = 10_000;
  private static final long MAX_CHARACTERS = 16L << 20;
  private static final int WAVE = 200;
  private static final int PART = 25;
  private static final int HELPERS = 8;
  private static final Duration LOOK = Duration.ofMillis(100);

  private static final class Waiting {

    private final DeferredCall call;
    private final long until;
    private @Nullable Throwable error;

    Waiting(DeferredCall call, long until) {
      this.call = call;
      this.until = until;
    }

    long characters() {
      return call instanceof DeferredCall.Send send ? send.job().params().length() : 0;
    }

    Throwable givenUp() {
      return error == null
          ? new SchedulerUnavailableException(
              "Nothing was sent: it waited for schedulers that did not answer until it was too late.",
              MAX_PAUSE,
              /* mayHaveTakenEffect= */ false,
              new IllegalStateException("not tried"))
          : error;
    }
  }

  private final JobScheduler scheduler;
  private final CommitReport report;
  private final Duration kept;
  private final Duration patience;
  private final Circuits circuits;
  private final Object lock = new Object();
  // In the order in which they were committed; without those that are being made.
  private final Deque<Waiting> queue = new ArrayDeque<>();
  private final ThreadFactory factory;
  private ThreadPoolExecutor threads;
  private int calls;
  private long characters;
  private boolean relaying;
  // The newest scheduled retry. Scheduling can throw an Error although the task runs later, so
  // older retries do nothing.
  private @Nullable Object retry;
  // The last tries are made; what fails then is not tried again.
  private boolean ending;
  private boolean stopped;
  private volatile boolean running;

  /**
   * @param failures told of calls that fail
   */
  public CommitRelay(JobScheduler scheduler, CommitFailures failures) {
    this(scheduler, failures, KEPT, MIN_PAUSE, PATIENCE, numbered());
  }

  CommitRelay(
      JobScheduler scheduler,
      CommitFailures failures,
      Duration kept,
      Duration firstPause,
      Duration patience,
      ThreadFactory factory) {
    this.scheduler = scheduler;
    this.report = new CommitReport(failures);
    this.kept = kept;
    this.patience = patience;
    this.circuits = new Circuits(number -> pause(firstPause, number));
    this.factory = factory;
    this.threads = threads();
  }

  private static Duration pause(Duration first, int failures) {
    Duration pause = first.multipliedBy(1L << Math.min(failures - 1, 10));
    return pause.compareTo(MAX_PAUSE) > 0 ? MAX_PAUSE : pause;
  }

  private static ThreadFactory numbered() {
    AtomicInteger number = new AtomicInteger();
    return task -> {
      Thread thread = new Thread(task, "punctual-commit-" + number.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }

  private ThreadPoolExecutor threads() {
    return new ThreadPoolExecutor(
        0,
        // No more than HELPERS and one have work; some may not have noticed yet that theirs is
        // done.
        Integer.MAX_VALUE,
        10,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        factory);
  }

  @Override
  public void make(List<DeferredCall> all) {
    List<DeferredCall> late = new ArrayList<>();
    List<DeferredCall> refused = new ArrayList<>();
    synchronized (lock) {
      for (DeferredCall call : all) {
        Waiting one = new Waiting(call, System.nanoTime() + kept.toNanos());
        if (stopped) {
          late.add(call);
        } else if (calls >= MAX_CALLS || characters + one.characters() > MAX_CHARACTERS) {
          refused.add(call);
        } else {
          calls++;
          characters += one.characters();
          queue.add(one);
        }
      }
      if (!queue.isEmpty() && !relaying) {
        begin();
      }
      lock.notifyAll();
    }
    refused.forEach(call -> report.failed(call, full()));
    if (!late.isEmpty()) {
      // The application ends, and with it the threads; its calls to schedulers end in time.
      DirectCalls.make(scheduler, report, late);
    }
  }

  private static SchedulerUnavailableException full() {
    String text =
        "Nothing was sent: %,d calls wait already for schedulers that do not answer. Use the outbox (punctual.outbox.enabled) to keep as many as the database holds."
            .formatted(MAX_CALLS);
    return new SchedulerUnavailableException(
        text, MAX_PAUSE, /* mayHaveTakenEffect= */ false, new IllegalStateException(text));
  }

  /** Returns how many calls are kept, those included that are being made. */
  int waiting() {
    synchronized (lock) {
      return calls;
    }
  }

  @Override
  public void undecided(List<DeferredCall> all) {
    report.undecided(all);
  }

  private void relay() {
    try {
      while (true) {
        List<Waiting> expired = new ArrayList<>();
        List<Waiting> wave = new ArrayList<>();
        synchronized (lock) {
          if (queue.isEmpty()) {
            return;
          }
          take(expired, wave);
          if (expired.isEmpty() && wave.isEmpty()) {
            lock.wait(LOOK.toMillis());
          }
        }
        expired.forEach(one -> report.failed(one.call, one.givenUp()));
        if (!wave.isEmpty()) {
          new Wave(wave).make();
        }
      }
    } catch (InterruptedException e) {
      // By the stop, which reports what is left.
      Thread.currentThread().interrupt();
    } finally {
      synchronized (lock) {
        relaying = false;
        lock.notifyAll();
        if (!queue.isEmpty() && !ending) {
          begin();
        }
      }
    }
  }

  private void begin() {
    relaying = true;
    try {
      threads.execute(this::relay);
      retry = null;
    } catch (RuntimeException | Error e) {
      beginLater();
      log.error(
          "No thread could be started to make {} committed calls; trying again in a second. Give"
              + " the process more memory or threads",
          calls,
          e);
    }
  }

  private void beginLater() {
    try {
      Object mine = new Object();
      retry = mine;
      CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS, Runnable::run)
          .execute(() -> beginAgain(mine));
    } catch (RuntimeException | Error e) {
      // The next commit begins.
      relaying = false;
    }
  }

  private void beginAgain(Object mine) {
    synchronized (lock) {
      if (retry != mine) {
        return;
      }
      retry = null;
      relaying = false;
      lock.notifyAll();
      if (!queue.isEmpty()) {
        begin();
      }
    }
  }

  /** Takes what has waited for too long, and of each job the first call that may be made now. */
  private void take(List<Waiting> expired, List<Waiting> wave) {
    Set<String> waiting = ending ? Set.of() : circuits.open();
    Set<String> lanes = new HashSet<>();
    Deque<Waiting> passed = new ArrayDeque<>();
    long now = System.nanoTime();
    boolean alone = false;
    while (!queue.isEmpty() && wave.size() < WAVE && !alone) {
      Waiting one = queue.remove();
      boolean mayGo = !waiting.contains(one.call.taskType());
      // Nothing goes beside what concerns all jobs, nor before it what came later.
      alone = one.call.lane().equals(DeferredCall.ALL_JOBS) && one.until - now > 0;
      if (one.until - now <= 0) {
        forget(one);
        expired.add(one);
      } else if (mayGo && (alone ? lanes.isEmpty() : lanes.add(one.call.lane()))) {
        wave.add(one);
      } else {
        lanes.add(one.call.lane());
        passed.push(one);
      }
    }
    passed.forEach(queue::push);
  }

  private void forget(Waiting one) {
    calls--;
    characters -= one.characters();
  }

  /** Calls of different jobs, which are made side by side. */
  private final class Wave {

    private final List<Waiting> all;
    private final boolean[] made;
    private final @Nullable Throwable[] errors;
    private final Queue<List<Integer>> parts = new ConcurrentLinkedQueue<>();
    // Types of which a call was not answered: the others of this wave would fare no better.
    private final Set<String> silent = ConcurrentHashMap.newKeySet();
    private final AtomicInteger unanswered = new AtomicInteger();

    Wave(List<Waiting> all) {
      this.all = all;
      this.made = new boolean[all.size()];
      this.errors = new @Nullable Throwable[all.size()];
    }

    void make() {
      split();
      List<CompletableFuture<Void>> helpers = new ArrayList<>();
      try {
        for (int i = 1; i < Math.min(parts.size(), HELPERS); i++) {
          helpers.add(CompletableFuture.runAsync(this::work, threads));
        }
      } catch (RuntimeException | Error e) {
        log.debug("The application ends, or has no more threads: this thread does the rest", e);
      }
      work();
      helpers.forEach(CompletableFuture::join);
      synchronized (lock) {
        settle();
      }
      for (int i = 0; i < all.size(); i++) {
        Throwable error = errors[i];
        if (error != null) {
          report.failed(all.get(i).call, error);
        }
      }
    }

    /** The sends of a type go together; all else goes one by one, a few at a time. */
    private void split() {
      Map<String, List<Integer>> sends = new LinkedHashMap<>();
      List<Integer> others = new ArrayList<>();
      for (int i = 0; i < all.size(); i++) {
        DeferredCall call = all.get(i).call;
        if (call instanceof DeferredCall.Send) {
          sends.computeIfAbsent(call.taskType(), type -> new ArrayList<>()).add(i);
        } else {
          others.add(i);
        }
      }
      parts.addAll(sends.values());
      for (int i = 0; i < others.size(); i += PART) {
        parts.add(others.subList(i, Math.min(i + PART, others.size())));
      }
    }

    private void work() {
      for (List<Integer> part = parts.poll(); part != null; part = parts.poll()) {
        try {
          work(part);
        } catch (RuntimeException | Error e) {
          // Reported as their result: they must not wait for ever, nor be made for ever.
          part.stream().filter(index -> !made[index]).forEach(index -> made(index, e));
        }
      }
    }

    private void work(List<Integer> indices) {
      DeferredCalls.make(
          scheduler,
          indices.stream().map(index -> all.get(index).call).toList(),
          new DeferredCalls.Results() {
            @Override
            public boolean goesOn() {
              return unanswered.get() < HELPERS;
            }

            @Override
            public boolean isWanted(int index) {
              return !silent.contains(all.get(indices.get(index)).call.taskType());
            }

            @Override
            public void made(int index, @Nullable Object result, @Nullable Throwable error) {
              Wave.this.made(indices.get(index), error);
            }
          });
    }

    private void made(int index, @Nullable Throwable error) {
      made[index] = true;
      errors[index] = error;
      String type = all.get(index).call.taskType();
      if (isUnanswered(error)) {
        unanswered.incrementAndGet();
        silent.add(type);
      } else {
        unanswered.set(0);
        silent.remove(type);
      }
    }

    /** Puts back what may be made later; what is left of the errors is to be reported. */
    private void settle() {
      long now = System.nanoTime();
      silent.forEach(circuits::failed);
      for (int i = all.size() - 1; i >= 0; i--) {
        Waiting one = all.get(i);
        if (made[i] && !silent.contains(one.call.taskType())) {
          circuits.answered(one.call.taskType());
        }
        boolean again = !made[i] || isUnanswered(errors[i]);
        if (again && !ending && one.until - now > 0) {
          one.error = made[i] ? errors[i] : one.error;
          errors[i] = null;
          queue.addFirst(one);
        } else {
          if (again) {
            errors[i] = made[i] ? errors[i] : one.givenUp();
          }
          forget(one);
        }
      }
    }
  }

  private static boolean isUnanswered(@Nullable Throwable error) {
    return error instanceof PunctualException known && known.isTransient();
  }

  @Override
  public void start() {
    synchronized (lock) {
      if (ending) {
        ending = false;
        stopped = false;
        threads = threads();
      }
    }
    running = true;
  }

  /** Makes what waits, once more and within ten seconds, and reports the rest. */
  @Override
  public void stop() {
    running = false;
    List<Waiting> left;
    boolean interrupted = false;
    long end = System.nanoTime() + patience.toNanos();
    synchronized (lock) {
      ending = true;
      lock.notifyAll();
      try {
        for (long ms = patience.toMillis(); relaying && ms > 0; ) {
          lock.wait(ms);
          ms = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        }
      } catch (InterruptedException e) {
        interrupted = true;
      }
      stopped = true;
      left = List.copyOf(queue);
      queue.clear();
      left.forEach(this::forget);
    }
    threads.shutdownNow();
    left.forEach(one -> report.failed(one.call, one.givenUp()));
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  // Ends behind the web server and the workers, whose last commits it still takes.
  @Override
  public int getPhase() {
    return SmartLifecycle.DEFAULT_PHASE - 8192;
  }
}
