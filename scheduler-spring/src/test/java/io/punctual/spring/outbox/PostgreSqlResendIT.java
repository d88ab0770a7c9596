package io.punctual.spring.outbox;

import io.punctual.spring.jdbc.TestDatabase;
import org.junit.jupiter.api.Tag;

@Tag("full")
final class PostgreSqlResendIT extends ResendContract {

  PostgreSqlResendIT() {
    super(TestDatabase.POSTGRESQL);
  }
}
