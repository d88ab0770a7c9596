package io.punctual.benchmark.contest;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Gives jobs to a contender: as they arrive, or many that are due at one instant. */
public final class Workload {

  private static final int SUBMITTERS = 16;
  private static final int BULK_SUBMITTERS = 4;
  private static final int BULK = 500;
  // A batch of jobs with large params stays below what a scheduler reads at once.
  private static final int BULK_BYTES = 1 << 20;
  private static final long PATIENCE_MS = 120_000;
  private static final long LATEST_MS = 30_000;

  private final Contender contender;
  private double millisPerJob = 0.1;

  public Workload(Contender contender) {
    this.contender = contender;
  }

  /** What is done at the stages of a drain. A drain whose load took too long begins again. */
  public interface Stages {

    /** The store is empty; the load begins. */
    default void begin() throws Exception {}

    /** All jobs are stored, none is due. */
    default void loaded() throws Exception {}
  }

  /**
   * Jobs due at one instant, and all of them run.
   *
   * @param recorder of their runs
   * @param rate jobs/s from that instant until the store knew that all were done
   */
  public record Drained(Recorder recorder, double rate) {}

  /** Stores jobs one a call, and waits until each call is over. */
  void submit(Recorder recorder, int callers, int jobs, long due) throws Exception {
    try (ExecutorService executor =
        callers > SUBMITTERS
            ? Executors.newVirtualThreadPerTaskExecutor()
            : Executors.newFixedThreadPool(callers)) {
      parallel(executor, callers, jobs, i -> contender.submit(recorder.job(i, due)));
    }
  }

  void submit(Recorder recorder, int jobs, long due) throws Exception {
    submit(recorder, SUBMITTERS, jobs, due);
  }

  /** Stores jobs as fast as the contender can. */
  void load(Recorder recorder, int jobs, long due) throws Exception {
    load(recorder, jobs, due, 0);
  }

  /**
   * Stores jobs as fast as the contender can.
   *
   * @param perSecond how many of them fall due in a second, 0 if all at once
   */
  public void load(Recorder recorder, int jobs, long due, int perSecond) throws Exception {
    if (contender.bulkCall() == null) {
      submit(recorder, jobs, due);
      return;
    }
    int bulk = Math.max(1, Math.min(BULK, BULK_BYTES / recorder.payload()));
    try (ExecutorService executor = Executors.newFixedThreadPool(BULK_SUBMITTERS)) {
      parallel(
          executor,
          BULK_SUBMITTERS,
          Math.ceilDiv(jobs, bulk),
          b -> {
            List<Contender.Job> some = new ArrayList<>(bulk);
            for (int i = b * bulk; i < Math.min(jobs, (b + 1) * bulk); i++) {
              some.add(recorder.job(i, perSecond == 0 ? due : due + i * 1000L / perSecond));
            }
            contender.bulk(some);
          });
    }
  }

  /** Stores jobs that are due at one instant, and waits until the store knows that all are done. */
  public Drained drain(int jobs, int payload, Stages stages) throws Exception {
    while (true) {
      contender.clear();
      long others = contender.pending();
      Recorder recorder = Recorder.begin(jobs, payload);
      stages.begin();
      long start = System.currentTimeMillis();
      long due = start + 700 + (long) (jobs * millisPerJob * 1.3);
      load(recorder, jobs, due);
      contender.settle();
      stages.loaded();
      long loaded = System.currentTimeMillis();
      millisPerJob = (double) (loaded - start) / jobs;
      recorder.awaitComplete(due + PATIENCE_MS);
      if (loaded > due - 200) {
        // The load was slower than guessed: once more, with a later time.
        continue;
      }
      while (contender.pending() > others && System.currentTimeMillis() < due + 150_000) {
        LockSupport.parkNanos(10_000_000);
      }
      // Done is what the store knows to be done, where it is told.
      double seconds = (System.currentTimeMillis() - due) / 1000.0;
      return new Drained(recorder, (jobs - recorder.missing()) / seconds);
    }
  }

  /** Drains that are not measured, as many as {@link WarmUp} wants. */
  public void warmUp(int seconds, int jobs) throws Exception {
    WarmUp warmUp = new WarmUp(seconds);
    boolean over = false;
    while (!over) {
      over = warmUp.isOver(drain(jobs, Recorder.PAYLOAD, new Stages() {}).rate());
    }
  }

  /**
   * An open loop: jobs that fall due 2 to 5 s after they arrive, and arrivals that never wait for a
   * slow submit. Returns when all have run, or half a minute after the last was due.
   */
  public void arrivals(Recorder recorder, int rate, int seconds) throws Exception {
    int jobs = rate * seconds;
    Random random = new Random(rate);
    long lastDue = 0;
    Queue<Exception> failures = new ConcurrentLinkedQueue<>();
    try (ExecutorService submitters = Executors.newFixedThreadPool(SUBMITTERS)) {
      long start = System.nanoTime();
      long startMillis = System.currentTimeMillis();
      int batch = rate < 2000 ? 1 : rate / 200;
      for (int i = 0; i < jobs; i += batch) {
        long at = i * 1_000_000_000L / rate;
        for (long left = start + at - System.nanoTime();
            left > 0;
            left = start + at - System.nanoTime()) {
          LockSupport.parkNanos(left);
        }
        List<Contender.Job> some = new ArrayList<>(batch);
        for (int k = i; k < Math.min(jobs, i + batch); k++) {
          long due = startMillis + at / 1_000_000 + 2000 + random.nextInt(3001);
          lastDue = Math.max(lastDue, due);
          some.add(recorder.job(k, due));
        }
        submitters.execute(
            () -> {
              try {
                if (some.size() == 1) {
                  contender.submit(some.get(0));
                } else {
                  contender.bulk(some);
                }
              } catch (Exception e) {
                failures.add(e);
              }
            });
      }
    }
    if (!failures.isEmpty()) {
      throw new IllegalStateException(failures.size() + " submits failed", failures.peek());
    }
    recorder.awaitComplete(lastDue + LATEST_MS);
  }

  private interface Body {
    void run(int index) throws Exception;
  }

  private static void parallel(ExecutorService executor, int threads, int count, Body body)
      throws Exception {
    AtomicInteger next = new AtomicInteger();
    List<Future<?>> futures = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      futures.add(
          executor.submit(
              () -> {
                for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
                  body.run(i);
                }
                return null;
              }));
    }
    for (Future<?> future : futures) {
      future.get();
    }
  }
}
