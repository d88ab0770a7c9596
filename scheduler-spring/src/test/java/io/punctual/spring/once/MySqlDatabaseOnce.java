package io.punctual.spring.once;

import io.punctual.spring.jdbc.TestDatabase;

/** Run when it is named, as Debian has no MySQL; see docs/testing.md. */
final class MySqlDatabaseOnce extends DatabaseOnceContract {

  MySqlDatabaseOnce() {
    super(TestDatabase.MYSQL);
  }
}
