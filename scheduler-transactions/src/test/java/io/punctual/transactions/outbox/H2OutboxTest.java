package io.punctual.transactions.outbox;

import io.punctual.transactions.TestDatabase;

final class H2OutboxTest extends OutboxContract {

  H2OutboxTest() {
    super(TestDatabase.H2);
  }
}
