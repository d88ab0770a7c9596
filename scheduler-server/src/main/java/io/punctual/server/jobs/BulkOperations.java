package io.punctual.server.jobs;

import io.punctual.ErrorCode;
import io.punctual.core.Engine;
import io.punctual.core.job.Due;
import io.punctual.server.audit.AuditLog;
import io.punctual.server.history.History;
import io.punctual.server.problem.ApiException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.security.concurrent.DelegatingSecurityContextRunnable;
import org.springframework.stereotype.Component;

/**
 * Makes operations on many jobs, keeps the last ones and runs them in the background. They run in
 * this scheduler and end with it.
 */
@Component
public class BulkOperations implements AutoCloseable {

  /** Most jobs of one page. */
  public static final int MAX_PAGE = 1_000;

  private static final int KEPT = 200;
  private static final int RUNNING = 4;

  private final Engine engine;
  private final JobSearch search;
  private final AuditLog audit;
  private final History history;
  private final InstantSource clock;
  private final ExecutorService threads =
      Executors.newFixedThreadPool(
          RUNNING, Thread.ofPlatform().daemon().name("punctual-bulk-", 0).factory());
  private final Map<String, BulkOperation> kept = new LinkedHashMap<>();

  @Autowired
  BulkOperations(Engine engine, JobSearch search, AuditLog audit, History history) {
    this(engine, search, audit, history, InstantSource.system());
  }

  BulkOperations(
      Engine engine, JobSearch search, AuditLog audit, History history, InstantSource clock) {
    this.engine = engine;
    this.search = search;
    this.audit = audit;
    this.history = history;
    this.clock = clock;
  }

  /**
   * Makes an operation.
   *
   * @param jobs at least one
   * @param due the new due time; only to reschedule. A delay counts from the beginning of the
   *     operation, for all its jobs
   */
  public BulkOperation of(
      BulkOperation.Action action, List<? extends JobSelection> jobs, @Nullable Due due) {
    return new BulkOperation(engine, search, audit, history, action, jobs, due, List.of(), "");
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
    if (operation.begins(perSecond, clock.instant())) {
      operation.tellBegin();
      // The audit names the operator.
      threads.execute(new DelegatingSecurityContextRunnable(() -> operation.run(clock)));
    }
  }

  /**
   * Returns the operation of that id.
   *
   * @throws ApiException 404
   */
  public BulkOperation find(String id) {
    synchronized (kept) {
      BulkOperation operation = kept.get(id);
      if (operation == null) {
        throw ApiException.of(
            ErrorCode.NOT_FOUND,
            "this scheduler knows no such operation: it is another one's, or was long ago; search"
                + " the jobs again");
      }
      return operation;
    }
  }

  /** Returns those that were begun, the newest first. */
  public List<BulkOperation> begun() {
    synchronized (kept) {
      return kept.values().stream()
          .filter(operation -> operation.getProgress().begun() != null)
          .sorted(Comparator.comparing(BulkOperations::begunAt).reversed())
          .toList();
    }
  }

  private static Instant begunAt(BulkOperation operation) {
    return Objects.requireNonNullElse(operation.getProgress().begun(), Instant.MIN);
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
