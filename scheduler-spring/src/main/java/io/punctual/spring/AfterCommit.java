package io.punctual.spring;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Keeps the calls of a transaction in memory until it has committed, and hands them over then. */
final class AfterCommit implements TransactionCalls {

  private final CommittedCalls committed;

  AfterCommit(CommittedCalls committed) {
    this.committed = committed;
  }

  /** Returns whether this thread is in a transaction whose end will be told. */
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
        committed.make(List.copyOf(waiting));
      } else if (status == STATUS_UNKNOWN) {
        committed.undecided(List.copyOf(waiting));
      }
    }
  }
}
