package io.punctual.transactions.outbox;

import io.punctual.transactions.TestDatabase;

final class H2ResendIT extends ResendContract {

  H2ResendIT() {
    super(TestDatabase.H2);
  }
}
