package io.punctual.spring.jdbc;

import io.punctual.internal.WorkerSetupException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.util.Objects;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.jdbc.support.MetaDataAccessException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The application's database. Its clock is the one that counts: those of the instances may differ.
 */
public final class Database {

  private final DataSource source;
  private final JdbcTemplate jdbc;
  private final TransactionTemplate own;
  private final TransactionTemplate snapshot;
  private final String now;

  private Database(DataSource source, String product, String now) {
    this.source = source;
    this.jdbc = new JdbcTemplate(source);
    this.own = transactions(source, TransactionDefinition.ISOLATION_READ_COMMITTED);
    this.snapshot =
        transactions(
            source,
            // Where the standard's word for it lets rows appear that were committed meanwhile.
            product.equals("H2")
                ? TransactionDefinition.ISOLATION_SERIALIZABLE
                : TransactionDefinition.ISOLATION_REPEATABLE_READ);
    this.now = now;
  }

  private static TransactionTemplate transactions(DataSource source, int isolation) {
    TransactionTemplate template =
        new TransactionTemplate(new DataSourceTransactionManager(source));
    template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
    template.setIsolationLevel(isolation);
    return template;
  }

  /** Statements on the connection of this thread's transaction, if there is one. */
  public JdbcTemplate jdbc() {
    return jdbc;
  }

  /** A SQL expression: milliseconds since 1970. */
  public String now() {
    return now;
  }

  /** Commits what it does, also where the pool's connections do not do so by themselves. */
  public <T> T commit(Supplier<T> statements) {
    return Objects.requireNonNull(own.execute(status -> statements.get()));
  }

  /** Commits one statement; answers how many rows it changed. */
  public int update(String statement, Object... values) {
    return commit(() -> jdbc.update(statement, values));
  }

  /** Reads what was committed at one moment, with however many statements. */
  public <T> T snapshot(Supplier<T> queries) {
    return Objects.requireNonNull(snapshot.execute(status -> queries.get()));
  }

  /**
   * Looks which database it is.
   *
   * @param user what wants it, for people: the property
   * @throws WorkerSetupException if it is none of those that are supported, or does not answer
   */
  public static Database of(DataSource given, String user) {
    DataSource source = given;
    while (source instanceof TransactionAwareDataSourceProxy proxy
        && proxy.getTargetDataSource() != null) {
      // Transactions are bound to what is behind it.
      source = proxy.getTargetDataSource();
    }
    String product = product(source, user);
    return new Database(source, product, now(product, user));
  }

  /**
   * Checks that a table of ours is there, so that its lack is found at the start and not by a job.
   *
   * @param column that it must have: an older table may lack it
   * @param user what wants it, for people: the property
   * @throws WorkerSetupException if it is not
   */
  public void require(String table, String column, String user) {
    try {
      var unused =
          commit(() -> jdbc.queryForList("select " + column + " from " + table + " where 1 = 0"));
    } catch (BadSqlGrammarException e) {
      WorkerSetupException failed =
          new WorkerSetupException(
              "%s needs the table %s with its column %s, which is not there or may not be read: %s"
                  .formatted(user, table, column, e.getMostSpecificCause().getMessage()),
              "Set punctual.initialize-schema=always, or let Flyway or Liquibase run the script R__%s.sql for this database, which is in the jar under io/punctual/schema. A table of an older version is dropped before, once it is empty."
                  .formatted(table));
      failed.initCause(e);
      throw failed;
    }
  }

  private static String product(DataSource source, String user) {
    try {
      return String.valueOf(
          JdbcUtils.<String>extractDatabaseMetaData(
              source, DatabaseMetaData::getDatabaseProductName));
    } catch (MetaDataAccessException | CannotGetJdbcConnectionException e) {
      WorkerSetupException failed =
          new WorkerSetupException(
              "%s needs the database, which does not answer: %s".formatted(user, e.getMessage()),
              "See to it that the DataSource can connect, or unset the property.");
      failed.initCause(e);
      throw failed;
    }
  }

  private static String now(String product, String user) {
    return switch (product) {
      case "H2" -> "cast(extract(epoch from current_timestamp) * 1000 as bigint)";
      case "PostgreSQL" -> "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)";
      // Not of local time, in which an hour of each year comes twice.
      case "MySQL", "MariaDB" ->
          "timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)) div 1000";
      default ->
          throw new WorkerSetupException(
              "%s does not work with %s.".formatted(user, product),
              "It works with PostgreSQL, MySQL, MariaDB and H2; unset the property.");
    };
  }

  /**
   * Whether what is written on this thread becomes part of a transaction of this database. Also
   * true for listeners of its commit, who are told of it before the connection is given back.
   */
  public boolean isInTransaction() {
    if (!TransactionSynchronizationManager.isActualTransactionActive()
        || !TransactionSynchronizationManager.isSynchronizationActive()
        || !isConnectionBound()) {
      return false;
    }
    // In a transaction of something else, there may be a connection that commits each statement.
    return !commitsByItself();
  }

  /** Whether this thread has a connection of this database to itself. */
  public boolean isConnectionBound() {
    return TransactionSynchronizationManager.getResource(source) instanceof ConnectionHolder;
  }

  private boolean commitsByItself() {
    return Boolean.TRUE.equals(
        jdbc.execute((ConnectionCallback<Boolean>) Connection::getAutoCommit));
  }

  /**
   * Commits what was written on this thread's connection behind the commit of its transaction,
   * which else stays open until the connection is given back. Most pools roll back then.
   *
   * @throws IllegalStateException if the connection is gone
   */
  public void commitBehind() {
    if (!isConnectionBound()) {
      throw new IllegalStateException("its connection was given back without a commit");
    }
    if (!commitsByItself()) {
      var unused =
          jdbc.execute(
              (ConnectionCallback<Boolean>)
                  connection -> {
                    connection.commit();
                    return true;
                  });
    }
  }
}
