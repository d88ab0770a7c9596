package io.punctual.transactions.outbox;

import io.punctual.transactions.TestDatabase;

final class PostgreSqlResendIT extends ResendContract {

  PostgreSqlResendIT() {
    super(TestDatabase.POSTGRESQL);
  }
}
