package io.punctual.spring.once;

import io.punctual.spring.jdbc.TestDatabase;
import org.junit.jupiter.api.Tag;

@Tag("full")
final class PostgreSqlDatabaseOnceIT extends DatabaseOnceContract {

  PostgreSqlDatabaseOnceIT() {
    super(TestDatabase.POSTGRESQL);
  }
}
