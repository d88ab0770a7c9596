package io.punctual.benchmark.imports;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.punctual.test.database.MariaDbServer;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** A database of another library, on a real server. */
final class OldDatabase implements AutoCloseable {

  /** The servers that the command knows. */
  enum Kind {
    POSTGRESQL,
    MARIADB
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

  private final Kind kind;
  private final String url;
  private final HikariDataSource source;

  private OldDatabase(Kind kind, String url) {
    this.kind = kind;
    this.url = url;
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(30);
    config.setMinimumIdle(0);
    this.source = new HikariDataSource(config);
  }

  /** A new one, empty. */
  static OldDatabase create(Kind kind) throws SQLException {
    if (kind == Kind.MARIADB) {
      return new OldDatabase(kind, MariaDbServer.createDatabase());
    }
    String name = "t" + UUID.randomUUID().toString().replace("-", "");
    try (Connection connection = Postgres.SERVER.getPostgresDatabase().getConnection();
        Statement statement = connection.createStatement()) {
      boolean unused = statement.execute("create database " + name);
    }
    return new OldDatabase(kind, Postgres.SERVER.getJdbcUrl("postgres", name));
  }

  Kind kind() {
    return kind;
  }

  String url() {
    return url;
  }

  HikariDataSource source() {
    return source;
  }

  /** The jar of its JDBC driver. */
  Path driver() throws SQLException {
    Driver driver = DriverManager.getDriver(url);
    return Path.of(
        URI.create(
            driver.getClass().getProtectionDomain().getCodeSource().getLocation().toString()));
  }

  /** Runs the statements of a file of a library. */
  void runFile(Class<?> library, String file) throws IOException, SQLException {
    try (InputStream in = library.getResourceAsStream(file)) {
      if (in == null) {
        throw new IOException(file + " is not there");
      }
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      run(text.replaceAll("(?m)^(--|#).*$", "").split(";"));
    }
  }

  void run(String... statements) throws SQLException {
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        if (!sql.isBlank() && !sql.strip().equalsIgnoreCase("commit")) {
          boolean unused = statement.execute(sql);
        }
      }
    }
  }

  long number(String query) throws SQLException {
    return Long.parseLong(texts(query).get(0));
  }

  /** The first column of all rows. */
  List<String> texts(String query) throws SQLException {
    List<String> found = new ArrayList<>();
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      while (rows.next()) {
        found.add(rows.getString(1));
      }
    }
    return found;
  }

  @Override
  public void close() {
    source.close();
  }
}
