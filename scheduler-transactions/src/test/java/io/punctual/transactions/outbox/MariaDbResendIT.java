package io.punctual.transactions.outbox;

import io.punctual.transactions.TestDatabase;

final class MariaDbResendIT extends ResendContract {

  MariaDbResendIT() {
    super(TestDatabase.MARIADB);
  }
}
