package io.punctual.benchmark.contender;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A pool of connections to the PostgreSQL of a contender. */
final class Postgres implements AutoCloseable {

  private final HikariDataSource source;

  Postgres(Surroundings surroundings) {
    this(surroundings, 40);
  }

  Postgres(Surroundings surroundings, int connections) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl("jdbc:postgresql://127.0.0.1:" + surroundings.storePort() + "/postgres");
    config.setUsername("postgres");
    config.setPassword("postgres");
    config.setMaximumPoolSize(connections);
    this.source = new HikariDataSource(config);
  }

  HikariDataSource source() {
    return source;
  }

  void run(String... statements) throws SQLException {
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        boolean unused = statement.execute(sql);
      }
    }
  }

  long number(String query) throws SQLException {
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      if (!rows.next()) {
        throw new SQLException("no row: " + query);
      }
      return rows.getLong(1);
    }
  }

  @Override
  public void close() {
    source.close();
  }
}
