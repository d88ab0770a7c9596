package io.punctual.server.migrate;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that wait in a database. They stay in the tables of their library, marked so that its
 * workers do not take them, until they are moved. The database has to be PostgreSQL, MariaDB or
 * MySQL.
 */
final class SqlStore implements OldStore<SqlRow> {

  private static final String PREFIX = "jdbc:";
  private static final int LOCK_SECONDS = 60;
  private static final long LOCK_AGAIN_MS = 500;
  private static final int TRIES = 20;

  private final Connection connection;
  private final boolean postgres;
  private final SqlTables tables;
  private final String queue;
  private @Nullable SqlRow last;
  private @Nullable List<SqlRow> current;
  private int busy;

  private SqlStore(Connection connection, boolean postgres, SqlTables tables, String queue) {
    this.connection = connection;
    this.postgres = postgres;
    this.tables = tables;
    this.queue = queue;
  }

  /**
   * Connects to a database.
   *
   * @param password empty if the URL has it, or none is needed
   * @param queue tells this store from others in the same database
   * @throws IllegalArgumentException if the URL is none, or if its driver is missing
   * @throws IllegalStateException if the login fails, or the database is another one
   */
  static SqlStore connect(String url, String password, SqlTables tables, String queue) {
    if (!url.startsWith(PREFIX)) {
      throw new IllegalArgumentException(
          "The URL must be one of JDBC, such as jdbc:postgresql://host/database?user=NAME.");
    }
    try {
      Properties login = new Properties();
      if (!password.isEmpty()) {
        login.setProperty("password", password);
      }
      Connection connection = driver(url).connect(url, login);
      if (connection == null) {
        throw new IllegalArgumentException("The driver does not know this URL.");
      }
      String product = connection.getMetaData().getDatabaseProductName();
      boolean postgres = product.equals("PostgreSQL");
      if (!postgres && !product.equals("MariaDB") && !product.equals("MySQL")) {
        connection.close();
        throw new IllegalStateException(
            "import-jobs supports PostgreSQL, MariaDB and MySQL, but this database is " + product);
      }
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      connection.setAutoCommit(false);
      return new SqlStore(connection, postgres, tables, queue);
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  // DriverManager itself would write the URL, with its password, into its message.
  private static Driver driver(String url) {
    return DriverManager.drivers()
        .filter(driver -> accepts(driver, url))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    ("No JDBC driver for %s:... is there. Start the command with one on its class"
                            + " path: java -cp 'scheduler-server.jar:DRIVER.jar'"
                            + " io.punctual.launch.Launcher import-jobs ...")
                        .formatted(url.substring(0, Math.max(4, url.indexOf(':', 5))))));
  }

  private static boolean accepts(Driver driver, String url) {
    try {
      return driver.acceptsURL(url);
    } catch (SQLException e) {
      return false;
    }
  }

  private static IllegalStateException failed(SQLException e) {
    return new IllegalStateException(
        "The database did not do what it was asked: "
            + String.valueOf(e.getMessage()).replaceAll("\\s+", " "),
        e);
  }

  /** Work in a transaction. */
  private interface Work<T> {
    T run(Connection connection) throws SQLException;
  }

  /** Runs it again if it was the victim of a deadlock. */
  private <T> T inTransaction(Work<T> work) {
    for (int i = 1; ; i++) {
      try {
        T result = work.run(connection);
        connection.commit();
        return result;
      } catch (SQLException e) {
        rollBack();
        if (i == TRIES || !String.valueOf(e.getSQLState()).startsWith("40")) {
          throw failed(e);
        }
      } catch (RuntimeException e) {
        rollBack();
        throw e;
      }
    }
  }

  /** A change in a transaction. */
  private interface Change {
    void run(Connection connection) throws SQLException;
  }

  private void change(Change change) {
    boolean unused =
        inTransaction(
            open -> {
              change.run(open);
              return true;
            });
  }

  private void rollBack() {
    try {
      connection.rollback();
    } catch (SQLException e) {
      // The connection is broken: the database rolls back.
    }
  }

  // The lock belongs to the connection: it ends with a process that is killed.
  @Override
  public void open() throws InterruptedException {
    for (long begin = System.nanoTime(); !isLocked(); Thread.sleep(LOCK_AGAIN_MS)) {
      if (System.nanoTime() - begin > TimeUnit.SECONDS.toNanos(LOCK_SECONDS)) {
        throw new IllegalStateException("Another import-jobs takes these jobs");
      }
    }
    change(tables::open);
    settle(inTransaction(tables::taken));
  }

  /** Waits until the old side knows that recurring jobs are taken. */
  private void settle(List<SqlRow> taken) throws InterruptedException {
    if (taken.stream().anyMatch(SqlRow::isRecurring)) {
      Thread.sleep(tables.settling().toMillis());
    }
  }

  private boolean isLocked() {
    return inTransaction(
        open -> {
          CRC32 hash = new CRC32();
          hash.update((open.getCatalog() + " " + queue).getBytes(StandardCharsets.UTF_8));
          try (PreparedStatement statement =
              open.prepareStatement(
                  postgres ? "select pg_try_advisory_lock(?)" : "select get_lock(?, 0) = 1")) {
            if (postgres) {
              statement.setLong(1, hash.getValue());
            } else {
              statement.setString(1, "punctual-import-" + hash.getValue());
            }
            try (ResultSet rows = statement.executeQuery()) {
              return rows.next() && rows.getBoolean(1);
            }
          }
        });
  }

  @Override
  public void hold() {
    // As long as the connection is there. Without it, nothing is written any more.
  }

  @Override
  public List<SqlRow> look(int seen, int max) {
    List<SqlRow> rows = inTransaction(open -> tables.next(open, seen == 0 ? null : last, max));
    last = rows.isEmpty() ? last : rows.getLast();
    return rows;
  }

  @Override
  public int take(int max, Predicate<SqlRow> wanted) throws InterruptedException {
    // Within the old side's lock, if it has one: else a trigger that fires often has gone on
    // between the two.
    List<SqlRow> rows =
        inTransaction(
            open -> {
              tables.lock(open);
              tables.tidy(open);
              List<SqlRow> found = tables.next(open, last, max);
              List<SqlRow> free = found.stream().filter(SqlStore::isFree).filter(wanted).toList();
              if (!free.isEmpty()) {
                tables.take(open, free);
              }
              return found;
            });
    if (rows.isEmpty()) {
      return 0;
    }
    last = rows.getLast();
    settle(rows.stream().filter(SqlStore::isFree).filter(wanted).toList());
    List<SqlRow> all = new ArrayList<>(inTransaction(tables::taken));
    Set<List<String>> taken = new HashSet<>();
    all.forEach(row -> taken.add(row.key()));
    for (SqlRow row : rows) {
      if (row.work() == null) {
        all.add(row);
      } else if (wanted.test(row) && !taken.contains(row.key())) {
        busy++;
      }
    }
    current = all;
    return rows.size();
  }

  private static boolean isFree(SqlRow row) {
    return row.isFree() && row.work() != null;
  }

  @Override
  public List<SqlRow> taken() {
    List<SqlRow> rows = current;
    current = null;
    return rows == null ? inTransaction(tables::taken) : rows;
  }

  @Override
  public OldWork read(SqlRow row) throws UnreadableException {
    if (row.work() == null) {
      throw new UnreadableException(row.flaw());
    }
    return row.work();
  }

  @Override
  public List<SqlRow> moved(List<SqlRow> rows, List<? extends OldWork> work) {
    return inTransaction(
        open -> {
          tables.lock(open);
          Set<List<String>> held = new HashSet<>();
          tables.taken(open).forEach(row -> held.add(row.key()));
          Map<Boolean, List<SqlRow>> parts =
              rows.stream().collect(Collectors.partitioningBy(row -> held.contains(row.key())));
          tables.finish(open, parts.getOrDefault(true, List.of()));
          return parts.getOrDefault(false, List.of());
        });
  }

  /** Rows that could not be read were not taken: they have no mark to be removed. */
  @Override
  public void refuse(SqlRow row) {
    change(
        open -> {
          tables.lock(open);
          tables.putBack(open, row);
        });
  }

  @Override
  public Object key(SqlRow row) {
    return row.key();
  }

  /** Only what can be read is taken. */
  @Override
  public boolean wasReadable(SqlRow row) {
    return true;
  }

  @Override
  public String name(SqlRow row) {
    return "The job '" + row.name() + "'";
  }

  @Override
  public boolean isRecurring(SqlRow row) {
    return row.isRecurring();
  }

  @Override
  public int busy() {
    return busy;
  }

  @Override
  public boolean isBusy(SqlRow row) {
    return !row.isFree() && row.work() != null;
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      // What was done is committed.
    }
  }
}
