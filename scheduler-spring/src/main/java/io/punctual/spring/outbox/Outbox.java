package io.punctual.spring.outbox;

import io.punctual.ErrorCode;
import io.punctual.PunctualException;
import io.punctual.spring.CommitFailures;
import io.punctual.spring.CommitFailures.Call;
import io.punctual.spring.DeferredCall;
import io.punctual.spring.TransactionCalls;
import io.punctual.spring.jdbc.Database;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Writes calls into the transaction in which they are made; a relay makes them behind it. */
public final class Outbox implements TransactionCalls {

  private static final Logger log = LoggerFactory.getLogger(Outbox.class);
  private static final int MAX_ENDED = 100_000;

  private final Database database;
  private final OutboxTable table;
  private final CommitFailures failures;
  private final AtomicBoolean warned = new AtomicBoolean();
  private final Queue<SentTable.Ended> ended = new ConcurrentLinkedQueue<>();
  private final AtomicInteger endedCount = new AtomicInteger();
  private final String application;
  private volatile Runnable wake = () -> {};

  /**
   * @param application whose rows these are, in lower case
   * @param failures told of calls that were promised to follow a commit and cannot
   */
  public Outbox(Database database, String application, CommitFailures failures) {
    this.database = database;
    this.application = application;
    this.table = new OutboxTable(database, application);
    this.failures = failures;
  }

  CommitFailures failures() {
    return failures;
  }

  OutboxTable table() {
    return table;
  }

  SentTable sentTable(Duration keep) {
    return new SentTable(database, application, keep);
  }

  ResendTable resendTable() {
    return new ResendTable(database, application);
  }

  void commit(Runnable statements) {
    boolean unused =
        database.commit(
            () -> {
              statements.run();
              return true;
            });
  }

  /**
   * Notes that a job is done, so that it is not sent again. Called for each attempt of a worker, so
   * it asks nothing of the database; a relay does that later, for many jobs at once.
   */
  public void done(String taskType, String taskId) {
    // Where no relay fetches them, what is kept is sent again at worst.
    if (endedCount.get() < MAX_ENDED) {
      endedCount.incrementAndGet();
      ended.add(new SentTable.Ended(taskType + "/" + taskId, System.nanoTime()));
    }
  }

  /** Takes jobs that are done for at least that long, the oldest first. */
  List<SentTable.Ended> ended(int max, Duration atLeast) {
    List<SentTable.Ended> some = new ArrayList<>();
    long now = System.nanoTime();
    SentTable.Ended next = ended.peek();
    while (next != null && some.size() < max && now - next.nanoTime() >= atLeast.toNanos()) {
      some.add(next);
      var unused = ended.poll();
      endedCount.decrementAndGet();
      next = ended.peek();
    }
    return some;
  }

  /**
   * Returns the last time that this application sent again what the store may have lost; null if it
   * never did. Asks the database.
   */
  public @Nullable ResendStatus resendStatus() {
    return resendTable().status();
  }

  /**
   * Sets who is told when something was committed, or nobody knows whether it was.
   *
   * @param listener called by the thread of the transaction, while that still has its connection;
   *     throws nothing
   */
  public void onCommit(Runnable listener) {
    wake = listener;
  }

  /** What it holds. Asks the database. */
  public OutboxStatus status() {
    return table.status();
  }

  /**
   * Drops all calls of this application, those that were refused as well. For tests.
   *
   * @throws DataAccessException if the table cannot be written
   */
  public void clear() {
    table.clear();
  }

  /**
   * As {@link TransactionCalls} says.
   *
   * @throws PunctualException if the transaction's connection does not say; transient
   */
  @Override
  public boolean isInTransaction() {
    try {
      if (database.isInTransaction()) {
        return true;
      }
    } catch (DataAccessException e) {
      throw new PunctualException(
          ErrorCode.UNAVAILABLE,
          "nothing was sent, cancelled or moved: the connection of the transaction does not answer: %s. Roll the transaction back"
              .formatted(e.getMessage()),
          e);
    }
    if (isForeign() && warned.compareAndSet(false, true)) {
      log.warn(
          "Punctual: a job was sent, cancelled or moved in a transaction that is not one of the"
              + " outbox's DataSource, or has committed already, so it is not written to the outbox:"
              + " see punctual.transactions. This is said once.");
    }
    return false;
  }

  private boolean isForeign() {
    if (!TransactionSynchronizationManager.isActualTransactionActive()
        || !TransactionSynchronizationManager.isSynchronizationActive()) {
      return false;
    }
    Following known = following(this);
    // Behind a commit, connections may commit each statement again, as with JPA.
    return known == null || !known.ending;
  }

  private static @Nullable Following following(Outbox owner) {
    for (TransactionSynchronization known :
        TransactionSynchronizationManager.getSynchronizations()) {
      if (known instanceof Following mine && mine.belongsTo(owner)) {
        return mine;
      }
    }
    return null;
  }

  @Override
  public void add(List<? extends DeferredCall> calls) {
    try {
      table.insert(calls);
    } catch (DataAccessException e) {
      throw new PunctualException(
          ErrorCode.UNAVAILABLE,
          "the %s of %s%s was not written to the table punctual_outbox: %s. Roll the transaction back; see that the table is there (punctual.initialize-schema) and may be written"
              .formatted(
                  calls.get(0).kind(),
                  calls.get(0).target(),
                  calls.size() == 1 ? "" : " and " + (calls.size() - 1) + " more",
                  e.getMessage()),
          e);
    }
    Following mine = following(this);
    if (mine == null) {
      mine = new Following();
      TransactionSynchronizationManager.registerSynchronization(mine);
    }
    mine.added(calls);
  }

  /**
   * Follows a transaction to its end. What was written before that is committed or rolled back with
   * it. What listeners of its commit ask for is written behind it, on a connection that may have no
   * commit left to come, and is committed here.
   */
  private final class Following implements TransactionSynchronization {

    private final List<Call> kinds = new ArrayList<>();
    private String first = "";
    private boolean ending;
    private boolean committed;
    private boolean late;

    private boolean belongsTo(Outbox owner) {
      return Outbox.this == owner;
    }

    private void added(List<? extends DeferredCall> calls) {
      for (DeferredCall call : calls) {
        if (kinds.isEmpty()) {
          first = call.kind() + " of " + call.target();
        }
        kinds.add(call.kind());
      }
      late = late || ending;
    }

    @Override
    public void beforeCompletion() {
      ending = true;
    }

    @Override
    public void afterCommit() {
      committed = true;
    }

    @Override
    public void afterCompletion(int status) {
      if (status == STATUS_ROLLED_BACK || kinds.isEmpty()) {
        return;
      }
      try {
        if (isBehind(status)) {
          database.commitBehind();
        } else if (status == STATUS_COMMITTED && !database.isConnectionBound()) {
          throw new IllegalStateException(
              "the transaction was not one of the outbox's DataSource, whose connection was given back"
                  + " without a commit");
        }
      } catch (RuntimeException e) {
        lost(e);
      }
      wake.run();
    }

    // Unknown with a commit before it: a transaction that took part in one that was over already.
    private boolean isBehind(int status) {
      return status == STATUS_COMMITTED ? late || !ending : committed || !ending;
    }

    private void lost(RuntimeException e) {
      log.atError()
          .setCause(e)
          .log(
              "The {}{} that was to follow a commit may be LOST: {}. See whether it took effect, and"
                  + " if not, make the call again.",
              first,
              kinds.size() == 1 ? "" : " and up to " + (kinds.size() - 1) + " more",
              e.getMessage());
      kinds.forEach(kind -> failures.failed(kind, e));
    }
  }
}
