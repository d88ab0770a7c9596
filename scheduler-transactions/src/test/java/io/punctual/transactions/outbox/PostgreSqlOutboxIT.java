package io.punctual.transactions.outbox;

import io.punctual.transactions.TestDatabase;

final class PostgreSqlOutboxIT extends OutboxContract {

  PostgreSqlOutboxIT() {
    super(TestDatabase.POSTGRESQL);
  }
}
