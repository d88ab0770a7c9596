package io.punctual.transactions.outbox;

import io.punctual.ErrorCode;
import io.punctual.PunctualException;
import io.punctual.spring.DeferredCall;
import io.punctual.spring.SubmitTracing;
import io.punctual.spring.TransactionCalls;
import io.punctual.transactions.Database;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Writes calls into the transaction in which they are made; a relay makes them behind it. */
public final class Outbox implements TransactionCalls {

  private static final Logger log = LoggerFactory.getLogger(Outbox.class);

  private final Database database;
  private final OutboxTable table;
  private final SubmitTracing tracing;
  private final AtomicBoolean warned = new AtomicBoolean();
  private volatile Runnable wake = () -> {};

  /**
   * @param application whose rows these are, in lower case
   * @param tracing of whoever sends: behind the commit it is gone
   */
  public Outbox(Database database, String application, SubmitTracing tracing) {
    this.database = database;
    this.table = new OutboxTable(database, application);
    this.tracing = tracing;
  }

  OutboxTable table() {
    return table;
  }

  /** To be told when something was committed. */
  void onCommit(Runnable listener) {
    wake = listener;
  }

  /** What it holds. Asks the database. */
  public OutboxStatus status() {
    return table.status();
  }

  @Override
  public boolean isInTransaction() {
    if (database.isInTransaction()) {
      return true;
    }
    if (TransactionSynchronizationManager.isActualTransactionActive()
        && warned.compareAndSet(false, true)) {
      log.warn(
          "Punctual: a job was sent, cancelled or moved in a transaction that is not one of the"
              + " outbox's DataSource, so it is not written to the outbox: see"
              + " punctual.client.transactions. This is said once.");
    }
    return false;
  }

  @Override
  public void add(List<? extends DeferredCall> calls) {
    List<DeferredCall> traced = new ArrayList<>(calls.size());
    for (DeferredCall call : calls) {
      traced.add(
          call instanceof DeferredCall.Send send
              ? new DeferredCall.Send(tracing.submitted(send.job()))
              : call);
    }
    try {
      table.insert(traced);
    } catch (DataAccessException e) {
      throw new PunctualException(
          ErrorCode.UNAVAILABLE,
          "the %s of %s%s was not written to the table punctual_outbox: %s. Roll the transaction back; see that the table is there and may be written"
              .formatted(
                  calls.get(0).kind(),
                  calls.get(0).target(),
                  calls.size() == 1 ? "" : " and " + (calls.size() - 1) + " more",
                  e.getMessage()),
          e);
    }
    for (TransactionSynchronization known :
        TransactionSynchronizationManager.getSynchronizations()) {
      if (known instanceof Wake) {
        return;
      }
    }
    TransactionSynchronizationManager.registerSynchronization(new Wake());
  }

  /** Wakes the relay when the transaction has committed, or nobody knows. */
  private final class Wake implements TransactionSynchronization {
    @Override
    public void afterCompletion(int status) {
      if (status != STATUS_ROLLED_BACK) {
        wake.run();
      }
    }
  }
}
