package io.punctual.spring;

import io.punctual.JobScheduler;
import io.punctual.PunctualException;
import io.punctual.spring.CommitFailures.Call;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Calls that wait until the transaction of this thread has committed, and are then made in the
 * order in which they were asked for; jobs that were sent one behind the other go out together.
 * What fails then is nobody's exception any more: it is logged as an error and counted.
 */
final class AfterCommit implements TransactionCalls {

  private static final Logger log = LoggerFactory.getLogger(AfterCommit.class);

  private final JobScheduler scheduler;
  private final CommitFailures failures;

  AfterCommit(JobScheduler scheduler, CommitFailures failures) {
    this.scheduler = scheduler;
    this.failures = failures;
  }

  /** Whether this thread is in a transaction whose end will be told. */
  @Override
  public boolean isInTransaction() {
    return TransactionSynchronizationManager.isActualTransactionActive()
        && TransactionSynchronizationManager.isSynchronizationActive();
  }

  @Override
  public void add(List<? extends DeferredCall> calls) {
    for (TransactionSynchronization known :
        TransactionSynchronizationManager.getSynchronizations()) {
      if (known instanceof Calls mine && mine.belongsTo(this)) {
        mine.waiting.addAll(calls);
        return;
      }
    }
    Calls mine = new Calls();
    mine.waiting.addAll(calls);
    TransactionSynchronizationManager.registerSynchronization(mine);
  }

  /** The calls of one transaction. */
  private final class Calls implements TransactionSynchronization {

    private final List<DeferredCall> waiting = new ArrayList<>();
    // How many there were when a savepoint was made.
    private final IdentityHashMap<Object, Integer> savepoints = new IdentityHashMap<>();

    private boolean belongsTo(AfterCommit owner) {
      return AfterCommit.this == owner;
    }

    @Override
    public void savepoint(Object savepoint) {
      savepoints.put(savepoint, waiting.size());
    }

    @Override
    public void savepointRollback(Object savepoint) {
      // One from before the first call: all calls came after it.
      int kept = savepoints.getOrDefault(savepoint, 0);
      waiting.subList(Math.min(kept, waiting.size()), waiting.size()).clear();
    }

    // Not afterCommit: what listeners of that ask for would never be called there.
    @Override
    public void afterCompletion(int status) {
      if (status == STATUS_COMMITTED) {
        make(List.copyOf(waiting));
      } else if (status == STATUS_UNKNOWN) {
        waiting.forEach(AfterCommit.this::undecided);
      }
    }
  }

  private void make(List<DeferredCall> calls) {
    DeferredCalls.make(
        scheduler,
        calls,
        (index, error) -> {
          if (error != null) {
            failed(calls.get(index), error);
          }
        });
  }

  private void failed(DeferredCall call, Throwable error) {
    boolean again = error instanceof PunctualException known && known.isTransient();
    loud(call)
        .setCause(error)
        .log(
            "The transaction committed, but the {} of {} that was to follow FAILED: {}. {}",
            call.kind(),
            call.target(),
            error.getMessage(),
            cure(call, again));
    failures.failed(call.kind(), error);
  }

  private static String cure(DeferredCall call, boolean again) {
    if (call.kind() != Call.SEND) {
      return again
          ? "Make the call again; it does no harm if it did arrive."
          : "Nothing was changed; mend what it says, then make the call again.";
    }
    return again
        ? "The job may not exist: send it again with this id. If it did arrive, that is no second one,"
            + " unless it is done for longer than punctual.tombstones (10 minutes)."
        : "The job does not exist: mend what it says, then send it again.";
  }

  private void undecided(DeferredCall call) {
    loud(call)
        .log(
            "Nobody knows whether the transaction committed, so the {} of {} was NOT MADE. Look at"
                + " the data, and if it is there, make the call.",
            call.kind(),
            call.target());
    failures.failed(call.kind(), null);
  }

  private static LoggingEventBuilder loud(DeferredCall call) {
    LoggingEventBuilder line = log.atError();
    return call instanceof DeferredCall.Send send
        ? line.addKeyValue("punctual.task.type", send.job().taskType())
            .addKeyValue("punctual.task.id", send.job().taskId())
        : line;
  }
}
