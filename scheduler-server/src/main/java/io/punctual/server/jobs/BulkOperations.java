package io.punctual.server.jobs;

import io.punctual.ErrorCode;
import io.punctual.core.Engine;
import io.punctual.core.job.Due;
import io.punctual.core.job.UndoLimits;
import io.punctual.server.audit.AuditLog;
import io.punctual.server.engine.EngineProperties;
import io.punctual.server.history.History;
import io.punctual.server.jobs.JobSelection.CancelledIn;
import io.punctual.server.operation.OperationLog;
import io.punctual.server.operation.OperationRecord;
import io.punctual.server.problem.ApiException;
import io.punctual.server.registry.SchedulerName;
import io.punctual.server.work.RepeatedTask;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.core.env.Environment;
import org.springframework.security.concurrent.DelegatingSecurityContextRunnable;
import org.springframework.stereotype.Component;

/**
 * Makes operations on many jobs, keeps the last ones and runs them in the background. They run in
 * this scheduler and end with it; how far they are is in the {@link OperationLog}, for all
 * schedulers.
 */
@Component
public class BulkOperations extends RepeatedTask implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(BulkOperations.class);

  /** Most jobs of one page. */
  public static final int MAX_PAGE = 1_000;

  private static final int KEPT = 200;
  private static final int RUNNING = 4;
  private static final Duration PAUSE = Duration.ofSeconds(1);
  // For the pages that are under way when the scheduler ends.
  private static final long PATIENCE_MS = 5_000;

  private final Engine engine;
  private final JobSearch search;
  private final AuditLog audit;
  private final History history;
  private final OperationLog records;
  private final String scheduler;
  private final InstantSource clock;
  private final Duration undoTime;
  private final ExecutorService threads =
      Executors.newFixedThreadPool(
          RUNNING, Thread.ofPlatform().daemon().name("punctual-bulk-", 0).factory());
  private final Map<String, BulkOperation> kept = new LinkedHashMap<>();
  // Those whose record is not the last one yet.
  private final Map<BulkOperation, Future<?>> untold = new ConcurrentHashMap<>();

  @Autowired
  BulkOperations(
      Engine engine,
      JobSearch search,
      AuditLog audit,
      OperationLog records,
      History history,
      EngineProperties properties,
      Environment environment) {
    this(
        engine,
        search,
        audit,
        records,
        history,
        SchedulerName.of(environment),
        InstantSource.system(),
        properties.tombstones());
  }

  BulkOperations(
      Engine engine,
      JobSearch search,
      AuditLog audit,
      OperationLog records,
      History history,
      String scheduler,
      InstantSource clock) {
    this(engine, search, audit, records, history, scheduler, clock, UndoLimits.TIME);
  }

  private BulkOperations(
      Engine engine,
      JobSearch search,
      AuditLog audit,
      OperationLog records,
      History history,
      String scheduler,
      InstantSource clock,
      Duration tombstones) {
    super("punctual-operations", PAUSE, PAUSE);
    this.engine = engine;
    this.search = search;
    this.audit = audit;
    this.records = records;
    this.history = history;
    this.scheduler = scheduler;
    this.clock = clock;
    this.undoTime = tombstones.compareTo(UndoLimits.TIME) < 0 ? tombstones : UndoLimits.TIME;
  }

  /**
   * Makes an operation.
   *
   * @param due the new due time; only to reschedule. A delay counts from the beginning of the
   *     operation, for all its jobs
   * @param undoId by which its cancels can be undone together; null for none
   */
  public BulkOperation of(
      BulkOperation.Action action, JobSelection jobs, @Nullable Due due, @Nullable String undoId) {
    return new BulkOperation(engine, search, audit, history, action, jobs, due, undoId);
  }

  /**
   * Makes the operation that undoes the cancels of another one, and keeps it.
   *
   * @throws ApiException 404 if no such operation is kept; 409 if there is nothing to undo
   */
  public BulkOperation undo(String id) {
    OperationRecord told = told(id);
    if (undoableUntil(told) == null) {
      throw ApiException.of(
          ErrorCode.WRONG_STATE,
          "this operation cannot be undone: only a cancel can, once it is over, for "
              + undoMinutes()
              + " minutes");
    }
    return keep(
        BulkOperation.Action.RESTORE,
        List.of(new CancelledIn(id, null, null, told.about(), told.outcomes().get("cancelled"))),
        null,
        List.of(),
        "");
  }

  /** Returns until when an operation can be undone; null if it cannot. */
  public @Nullable Instant undoableUntil(OperationRecord told) {
    return told.undoableUntil(clock.instant(), undoTime);
  }

  /** Returns for how many minutes cancelled jobs are kept: no longer than their tombstones. */
  public long undoMinutes() {
    return Math.max(1, undoTime.toMinutes());
  }

  /**
   * Makes an operation that can be found by its id; the oldest are forgotten.
   *
   * @param searches the words that found the jobs, as they were typed
   * @param when the new due time as it was typed; empty for none
   */
  public BulkOperation keep(
      BulkOperation.Action action,
      List<? extends JobSelection> jobs,
      @Nullable Due due,
      List<String> searches,
      String when) {
    BulkOperation operation =
        new BulkOperation(engine, search, audit, history, action, jobs, due, searches, when);
    synchronized (kept) {
      kept.values()
          .removeIf(
              old ->
                  kept.size() >= KEPT && old.getProgress().state() == BulkOperation.State.PREVIEW);
      kept.values().removeIf(old -> kept.size() >= KEPT && old.getProgress().over());
      kept.put(operation.getId(), operation);
    }
    return operation;
  }

  /**
   * Begins an operation that is kept, or lets it go on, unless it is under way or done: a button
   * may be pressed twice.
   *
   * @param perSecond most jobs a second; 0 for no limit
   */
  public void begin(BulkOperation operation, int perSecond) {
    synchronized (operation) {
      if (!operation.begins(perSecond, clock.instant())) {
        return;
      }
      operation.tellBegin();
      trying(() -> records.begin(operation.record(operation.getProgress(), scheduler)));
      // The audit names the operator.
      untold.put(
          operation,
          threads.submit(
              new DelegatingSecurityContextRunnable(
                  () -> {
                    operation.run(clock);
                    trying(() -> tell(operation));
                  })));
    }
  }

  private static void trying(Runnable tell) {
    try {
      tell.run();
    } catch (RuntimeException e) {
      log.debug("Redis did not answer; the next turn tries again", e);
    }
  }

  /** Tells all schedulers how far an operation is. */
  private void tell(BulkOperation operation) {
    synchronized (operation) {
      BulkOperation.Progress now = operation.getProgress();
      records.put(operation.record(now, scheduler));
      if (now.over()) {
        var unused = untold.remove(operation);
      }
    }
  }

  @Override
  protected void turn() {
    for (BulkOperation operation : untold.keySet()) {
      if (records.isAskedToStop(operation.getId())) {
        operation.stop();
      }
      tell(operation);
    }
  }

  /** Stops the operation of that id, whichever scheduler runs it. */
  public void stop(String id) {
    BulkOperation operation = local(id);
    OperationRecord told = told(id);
    if (told.over()) {
      return;
    }
    if (operation != null) {
      operation.stop();
    } else {
      records.askToStop(id);
    }
    String search = told.search();
    audit.operated(
        told.action() + " many", search == null ? told.about() : search, "asked to stop", id);
  }

  /**
   * Returns the operation of that id.
   *
   * @throws ApiException 404
   */
  public BulkOperation find(String id) {
    BulkOperation operation = local(id);
    if (operation == null) {
      throw ApiException.of(
          ErrorCode.NOT_FOUND,
          "this scheduler knows no such operation: it is another one's, or was long ago; search"
              + " the jobs again");
    }
    return operation;
  }

  private @Nullable BulkOperation local(String id) {
    synchronized (kept) {
      return kept.get(id);
    }
  }

  /** Returns whether that is an operation of this scheduler that did not begin. */
  public boolean isPreview(String id) {
    BulkOperation operation = local(id);
    return operation != null && operation.getProgress().begun() == null;
  }

  /**
   * Returns how far an operation is that was begun, here or at another scheduler.
   *
   * @throws ApiException 404
   */
  public OperationRecord told(String id) {
    BulkOperation operation = local(id);
    OperationRecord told =
        operation == null || isPreview(id)
            ? records.find(id)
            : operation.record(operation.getProgress(), scheduler);
    if (told == null) {
      throw ApiException.of(
          ErrorCode.NOT_FOUND,
          "no operation with this id is kept. Redis keeps the last 200; the audit has the beginning and the end of older ones");
    }
    return told;
  }

  /**
   * The operations that were begun.
   *
   * @param all the newest first
   * @param partial whether Redis did not answer, so that only those of this scheduler are there
   */
  public record Begun(List<OperationRecord> all, boolean partial) {}

  /** Returns those that were begun, here or at another scheduler. */
  public Begun begun() {
    Map<String, OperationRecord> all = new LinkedHashMap<>();
    boolean partial = false;
    try {
      records.all().forEach(record -> all.put(record.id(), record));
    } catch (RuntimeException e) {
      partial = true;
    }
    synchronized (kept) {
      for (BulkOperation operation : kept.values()) {
        BulkOperation.Progress now = operation.getProgress();
        if (now.begun() != null) {
          all.put(operation.getId(), operation.record(now, scheduler));
        }
      }
    }
    Comparator<OperationRecord> byBegin =
        Comparator.comparing(record -> Instant.parse(record.begun()));
    return new Begun(all.values().stream().sorted(byBegin.reversed()).toList(), partial);
  }

  /** Ends what is under way after its page, while Redis can still be told. */
  @Override
  public void stop() {
    super.stop();
    Map<BulkOperation, Future<?>> last = Map.copyOf(untold);
    last.keySet().forEach(BulkOperation::interrupt);
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MS);
    try {
      for (Future<?> one : last.values()) {
        var unused = one.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      log.debug("An operation did not end in time", e);
    }
  }

  @Override
  public void close() {
    stop();
    threads.shutdownNow();
  }
}
