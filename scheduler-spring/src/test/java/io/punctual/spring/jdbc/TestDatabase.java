package io.punctual.spring.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.punctual.redis.Ports;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * Real databases: H2 here, PostgreSQL from a jar, MariaDB as this machine has it, MySQL if told.
 */
public enum TestDatabase {
  /** In memory. */
  H2 {
    @Override
    public DataSource create() {
      return new DriverManagerDataSource(
          "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=30000", "sa", "");
    }

    @Override
    String blocked() {
      // Which tries again until the other transaction ends.
      return "select count(*) from information_schema.sessions where executing_statement like 'insert into %'";
    }
  },
  /** A server of its own. */
  POSTGRESQL {
    @Override
    public DataSource create() {
      String name = "t" + UUID.randomUUID().toString().replace("-", "");
      new JdbcTemplate(Postgres.SERVER.getPostgresDatabase()).execute("create database " + name);
      return pooled(Postgres.SERVER.getDatabase("postgres", name));
    }

    @Override
    String blocked() {
      return "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    }
  },
  /** A server of its own; wants {@code mariadbd} on the PATH (Debian: mariadb-server). */
  MARIADB {
    @Override
    public DataSource create() {
      String name = "t" + UUID.randomUUID().toString().replace("-", "");
      new JdbcTemplate(MariaDb.source("mysql")).execute("create database " + name);
      return pooled(MariaDb.source(name));
    }

    @Override
    String blocked() {
      return IN_LOCK_WAIT;
    }
  },
  /** A server that runs already, at the address of {@code -Dpunctual.test.mysql}. */
  MYSQL {
    @Override
    public DataSource create() {
      String name = "t" + UUID.randomUUID().toString().replace("-", "");
      new JdbcTemplate(source("mysql")).execute("create database " + name);
      return source(name);
    }

    private DataSource source(String database) {
      String server = System.getProperty("punctual.test.mysql");
      if (server == null) {
        throw new IllegalStateException(
            "No MySQL server is named: give the address of one whose root has no password, as"
                + " -Dpunctual.test.mysql=127.0.0.1:3306");
      }
      return new DriverManagerDataSource(
          "jdbc:mysql://%s/%s?sslMode=DISABLED&allowPublicKeyRetrieval=true"
              .formatted(server, database),
          "root",
          "");
    }

    @Override
    String blocked() {
      return IN_LOCK_WAIT;
    }
  };

  // Of MySQL and MariaDB.
  private static final String IN_LOCK_WAIT =
      "select count(*) from information_schema.innodb_trx t join information_schema.processlist p"
          + " on p.id = t.trx_mysql_thread_id where p.db = database() and t.trx_state = 'LOCK WAIT'";

  /** As applications have them: each connection is a process of PostgreSQL's. */
  private static DataSource pooled(DataSource source) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(source);
    config.setMaximumPoolSize(16);
    config.setMinimumIdle(0);
    // The pool is not closed; idle connections close themselves.
    config.setIdleTimeout(TimeUnit.SECONDS.toMillis(10));
    return new HikariDataSource(config);
  }

  /** A new database, empty. */
  public abstract DataSource create();

  /** A query. */
  abstract String blocked();

  /** How many statements on that database wait for another transaction now. */
  public long blocked(DataSource source) {
    Long number = new JdbcTemplate(source).queryForObject(blocked(), Long.class);
    return number == null ? 0 : number;
  }

  /** The folder of its scripts. */
  public String vendor() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }

  /** A new database with our tables, by the scripts that are shipped. */
  public DataSource createWithTables() {
    DataSource source = create();
    for (String table : List.of("punctual_outbox", "punctual_once", "punctual_sent")) {
      ClassPathResource script =
          new ClassPathResource("io/punctual/schema/%s/R__%s.sql".formatted(vendor(), table));
      // Twice: that they may be run again is what the R stands for.
      new ResourceDatabasePopulator(script).execute(source);
      new ResourceDatabasePopulator(script).execute(source);
    }
    return source;
  }

  private static final class Postgres {
    static final EmbeddedPostgres SERVER = start();

    private static EmbeddedPostgres start() {
      try {
        return EmbeddedPostgres.builder()
            .setServerConfig("fsync", "off")
            .setPGStartupWait(Duration.ofSeconds(60))
            .start();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static final class MariaDb {
    private static final int PORT = start();

    static DataSource source(String database) {
      return new DriverManagerDataSource(
          "jdbc:mariadb://127.0.0.1:%d/%s".formatted(PORT, database), "root", "");
    }

    private static int start() {
      try {
        Path directory = Files.createTempDirectory("mariadb");
        int port = Ports.free();
        Path data = directory.resolve("data");
        Path log = directory.resolve("log");
        run(
            log,
            "mariadb-install-db",
            "--no-defaults",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--user=" + System.getProperty("user.name"),
            // At its start, a server deletes the files of other servers from a shared tmpdir.
            "--tmpdir=" + directory,
            "--datadir=" + data);
        Process server =
            new ProcessBuilder(
                    "mariadbd",
                    "--no-defaults",
                    "--user=" + System.getProperty("user.name"),
                    "--bind-address=127.0.0.1",
                    "--port=" + port,
                    "--skip-grant-tables",
                    // No test pulls a plug, and disks differ a hundredfold.
                    "--innodb-flush-log-at-trx-commit=0",
                    "--innodb-flush-method=nosync",
                    "--tmpdir=" + directory,
                    "--pid-file=" + directory.resolve("pid"),
                    "--datadir=" + data,
                    "--socket=" + directory.resolve("socket"))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server, directory)));
        Awaitility.await()
            .atMost(Duration.ofSeconds(60))
            .pollInSameThread()
            .ignoreExceptionsInstanceOf(SQLException.class)
            .until(
                () -> {
                  if (!server.isAlive()) {
                    throw new IllegalStateException("it ended: " + Files.readString(log));
                  }
                  return connects(port);
                });
        return port;
      } catch (IOException e) {
        throw new UncheckedIOException(
            "MariaDB cannot be started (Debian: apt-get install mariadb-server): " + e.getMessage(),
            e);
      }
    }

    private static boolean connects(int port) throws SQLException {
      try (Connection connection =
          new DriverManagerDataSource(
                  "jdbc:mariadb://127.0.0.1:%d/mysql".formatted(port), "root", "")
              .getConnection()) {
        return connection.isValid(1);
      }
    }

    private static void run(Path log, String... command) throws IOException {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .start();
      if (process.onExit().join().exitValue() != 0) {
        throw new IOException(command[0] + " failed: " + Files.readString(log));
      }
    }

    private static void stop(Process server, Path directory) {
      server.destroyForcibly();
      var unused = server.onExit().join();
      try (Stream<Path> files = Files.walk(directory)) {
        files.sorted(java.util.Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
