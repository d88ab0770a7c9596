package io.punctual.transactions.once;

import io.punctual.transactions.TestDatabase;
import org.junit.jupiter.api.Tag;

@Tag("full")
final class MariaDbDatabaseOnceIT extends DatabaseOnceContract {

  MariaDbDatabaseOnceIT() {
    super(TestDatabase.MARIADB);
  }
}
