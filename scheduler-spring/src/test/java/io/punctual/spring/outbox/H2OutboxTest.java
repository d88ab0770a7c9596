package io.punctual.spring.outbox;

import io.punctual.spring.jdbc.TestDatabase;

final class H2OutboxTest extends OutboxContract {

  H2OutboxTest() {
    super(TestDatabase.H2);
  }
}
