package io.punctual.server.migrate;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tables of a library: how its rows are read, and how they are kept from its workers. Each call
 * is within a transaction, which may be repeated.
 */
interface SqlTables {

  /**
   * Checks that the tables have such jobs.
   *
   * @throws IllegalStateException if they do not
   */
  default void open(Connection connection) throws SQLException {}

  /** Locks the tables against the old side, until the transaction ends, if its schedulers do so. */
  default void lock(Connection connection) throws SQLException {}

  /**
   * Returns the jobs that wait behind a row, in the order of their keys.
   *
   * @param last null to begin with the first one
   */
  List<SqlRow> next(Connection connection, @Nullable SqlRow last, int max) throws SQLException;

  /** Returns the jobs that were taken and are not moved yet. */
  List<SqlRow> taken(Connection connection) throws SQLException;

  /** Takes those of these jobs that the old side has not changed meanwhile. */
  void take(Connection connection, List<SqlRow> rows) throws SQLException;

  /** Removes taken jobs, or ends them if they recur. */
  void finish(Connection connection, List<SqlRow> rows) throws SQLException;

  /** Gives a taken job back to the old side. */
  void putBack(Connection connection, SqlRow row) throws SQLException;

  /** Returns whether the old side may write over a taken row that it read shortly before. */
  default boolean isWrittenOver() {
    return false;
  }
}
