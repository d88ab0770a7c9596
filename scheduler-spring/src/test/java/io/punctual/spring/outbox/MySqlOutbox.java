package io.punctual.spring.outbox;

import io.punctual.spring.jdbc.TestDatabase;

/** Run when it is named, as Debian has no MySQL; see docs/testing.md. */
final class MySqlOutbox extends OutboxContract {

  MySqlOutbox() {
    super(TestDatabase.MYSQL);
  }
}
