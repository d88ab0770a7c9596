package io.punctual.systemtest.guide;

import io.punctual.DelayedTask;

/** What must take effect once. */
class Loyalty {

  record Order(String id) {}

  interface Accounts {
    void addPoints(String order, int points);
  }

  private final Accounts accounts;

  Loyalty(Accounts accounts) {
    this.accounts = accounts;
  }

  @DelayedTask(type = "loyalty.credit", once = "database")
  void credit(Order order) {
    accounts.addPoints(order.id(), 100);
  }
}
