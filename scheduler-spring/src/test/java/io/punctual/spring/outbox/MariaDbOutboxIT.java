package io.punctual.spring.outbox;

import io.punctual.spring.jdbc.TestDatabase;
import org.junit.jupiter.api.Tag;

@Tag("full")
final class MariaDbOutboxIT extends OutboxContract {

  MariaDbOutboxIT() {
    super(TestDatabase.MARIADB);
  }
}
