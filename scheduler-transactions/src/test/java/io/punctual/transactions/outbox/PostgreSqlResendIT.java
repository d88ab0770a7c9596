package io.punctual.transactions.outbox;

import io.punctual.transactions.TestDatabase;
import org.junit.jupiter.api.Tag;

@Tag("full")
final class PostgreSqlResendIT extends ResendContract {

  PostgreSqlResendIT() {
    super(TestDatabase.POSTGRESQL);
  }
}
