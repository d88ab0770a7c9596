package io.punctual.spring.outbox;

import io.punctual.spring.jdbc.TestDatabase;
import org.junit.jupiter.api.Tag;

@Tag("full")
final class H2ResendIT extends ResendContract {

  H2ResendIT() {
    super(TestDatabase.H2);
  }
}
