package io.punctual.spring.once;

import io.punctual.spring.jdbc.TestDatabase;
import org.junit.jupiter.api.Tag;

@Tag("full")
final class MariaDbDatabaseOnceIT extends DatabaseOnceContract {

  MariaDbDatabaseOnceIT() {
    super(TestDatabase.MARIADB);
  }
}
