package io.punctual.spring.once;

import io.punctual.TaskContext;
import io.punctual.spring.jdbc.Database;
import java.time.Duration;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/**
 * Writes down a job in the transaction of its work, before the work: both are there, or neither. A
 * second delivery at the same time waits for the end of the first one.
 */
public final class DatabaseOnce implements OnceFilter {

  private final Database database;
  private final PlatformTransactionManager transactions;
  private final String application;
  private final Duration retention;
  private final String insert;

  /**
   * @param application whose jobs these are, in lower case
   * @param retention how long a job is remembered
   */
  public DatabaseOnce(
      Database database,
      PlatformTransactionManager transactions,
      String application,
      Duration retention) {
    this.database = database;
    this.transactions = transactions;
    this.application = application;
    this.retention = retention;
    this.insert =
        "insert into punctual_once (application, task_type, task_id, incarnation, done_at)"
            + " values (?, ?, ?, ?, "
            + database.now()
            + ")";
  }

  @Override
  public boolean run(TaskContext context, Work work) throws Exception {
    DefaultTransactionDefinition definition = new DefaultTransactionDefinition();
    definition.setName(context.taskType() + "/" + context.taskId());
    TransactionStatus transaction = transactions.getTransaction(definition);
    boolean first;
    try {
      first = insert(context);
      if (first) {
        work.run();
      }
    } catch (Throwable e) {
      try {
        transactions.rollback(transaction);
      } catch (RuntimeException | Error also) {
        e.addSuppressed(also);
      }
      throw e;
    }
    if (first) {
      transactions.commit(transaction);
    } else {
      transactions.rollback(transaction);
    }
    return first;
  }

  private boolean insert(TaskContext context) {
    if (!database.isInTransaction()) {
      throw new IllegalStateException(
          "once: database wants a transaction of the application's DataSource, and %s began one of something else; mark the TransactionManager of the DataSource as @Primary"
              .formatted(transactions.getClass().getName()));
    }
    try {
      var unused =
          database
              .jdbc()
              .update(
                  insert, application, context.taskType(), context.taskId(), context.incarnation());
      return true;
    } catch (DuplicateKeyException e) {
      return false;
    }
  }

  @Override
  public void clean() {
    var unused =
        database.update(
            "delete from punctual_once where application = ? and done_at < "
                + database.now()
                + " - ?",
            application,
            retention.toMillis());
  }
}
