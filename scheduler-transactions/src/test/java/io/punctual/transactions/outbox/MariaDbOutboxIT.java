package io.punctual.transactions.outbox;

import io.punctual.transactions.TestDatabase;

final class MariaDbOutboxIT extends OutboxContract {

  MariaDbOutboxIT() {
    super(TestDatabase.MARIADB);
  }
}
