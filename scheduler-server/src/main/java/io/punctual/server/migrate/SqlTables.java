package io.punctual.server.migrate;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The tables of a library: how its rows are read, and how they are kept from its workers. Each call
 * is within a transaction, which may be repeated.
 */
interface SqlTables {

  /** How many names a message has at most. */
  int MAX_NAMED = 50;

  /**
   * Checks that the tables have such jobs.
   *
   * @throws IllegalArgumentException if they do not
   */
  void open(Connection connection) throws SQLException;

  /** Locks the tables against the old side, until the transaction ends, if its schedulers do so. */
  default void lock(Connection connection) throws SQLException {}

  /** Removes what an earlier run kept of jobs that the old side has defined again since. */
  default void tidy(Connection connection) throws SQLException {}

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

  /** Returns how long the old side may still use or write over a recurring job that it has read. */
  default Duration settling() {
    return Duration.ZERO;
  }

  /**
   * Checks that there are jobs of a name.
   *
   * @param what continues a sentence that begins "No"
   * @param known the names that the table has
   * @throws IllegalArgumentException if there are none
   */
  static void requireKnown(String what, String name, Collection<String> known) {
    if (!known.contains(name)) {
      throw new IllegalArgumentException(
          "No %s %s. Found: %s. After a complete move, none is left."
              .formatted(
                  what,
                  name,
                  known.isEmpty()
                      ? "none"
                      : known.stream().limit(MAX_NAMED).collect(Collectors.joining(", "))));
    }
  }
}
