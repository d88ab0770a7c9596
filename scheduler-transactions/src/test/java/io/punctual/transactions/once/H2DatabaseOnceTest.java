package io.punctual.transactions.once;

import io.punctual.transactions.TestDatabase;

final class H2DatabaseOnceTest extends DatabaseOnceContract {

  H2DatabaseOnceTest() {
    super(TestDatabase.H2);
  }
}
