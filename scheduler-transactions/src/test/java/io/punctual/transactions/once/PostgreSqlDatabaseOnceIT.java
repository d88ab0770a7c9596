package io.punctual.transactions.once;

import io.punctual.transactions.TestDatabase;

final class PostgreSqlDatabaseOnceIT extends DatabaseOnceContract {

  PostgreSqlDatabaseOnceIT() {
    super(TestDatabase.POSTGRESQL);
  }
}
