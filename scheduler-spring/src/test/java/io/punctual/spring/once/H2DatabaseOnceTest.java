package io.punctual.spring.once;

import io.punctual.spring.jdbc.TestDatabase;

final class H2DatabaseOnceTest extends DatabaseOnceContract {

  H2DatabaseOnceTest() {
    super(TestDatabase.H2);
  }
}
