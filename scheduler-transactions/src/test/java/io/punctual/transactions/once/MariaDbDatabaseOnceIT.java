package io.punctual.transactions.once;

import io.punctual.transactions.TestDatabase;

final class MariaDbDatabaseOnceIT extends DatabaseOnceContract {

  MariaDbDatabaseOnceIT() {
    super(TestDatabase.MARIADB);
  }
}
