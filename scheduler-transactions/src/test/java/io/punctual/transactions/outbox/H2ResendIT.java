package io.punctual.transactions.outbox;

import io.punctual.transactions.TestDatabase;
import org.junit.jupiter.api.Tag;

@Tag("full")
final class H2ResendIT extends ResendContract {

  H2ResendIT() {
    super(TestDatabase.H2);
  }
}
