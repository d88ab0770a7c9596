package io.punctual.spring.outbox;

import io.punctual.spring.jdbc.TestDatabase;
import org.junit.jupiter.api.Tag;

@Tag("full")
final class MariaDbResendIT extends ResendContract {

  MariaDbResendIT() {
    super(TestDatabase.MARIADB);
  }
}
