package io.punctual.transactions.outbox;

import io.punctual.transactions.TestDatabase;

/** Run when it is named, as Debian has no MySQL; see docs/testing.md. */
final class MySqlResend extends ResendContract {

  MySqlResend() {
    super(TestDatabase.MYSQL);
  }
}
