package io.punctual.spring.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.punctual.test.database.MariaDbServer;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
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
      try {
        return pooled(new DriverManagerDataSource(MariaDbServer.createDatabase()));
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
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
}
