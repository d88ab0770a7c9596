package io.punctual.transactions.outbox;

import io.punctual.transactions.TestDatabase;
import org.junit.jupiter.api.Tag;

@Tag("full")
final class MariaDbOutboxIT extends OutboxContract {

  MariaDbOutboxIT() {
    super(TestDatabase.MARIADB);
  }
}
