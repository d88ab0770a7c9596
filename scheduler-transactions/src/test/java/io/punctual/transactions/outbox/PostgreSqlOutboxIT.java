package io.punctual.transactions.outbox;

import io.punctual.transactions.TestDatabase;
import org.junit.jupiter.api.Tag;

@Tag("full")
final class PostgreSqlOutboxIT extends OutboxContract {

  PostgreSqlOutboxIT() {
    super(TestDatabase.POSTGRESQL);
  }
}
