package io.punctual.systemtest.guide;

import io.punctual.DelayedTask;
import io.punctual.TaskContext;

/** Has a worker whose first attempt fails. */
class BusyShop {

  record CloseOrder(String id) {}

  @DelayedTask(type = "order.close", retry = "3s,10s")
  void close(CloseOrder order, TaskContext context) {
    if (context.attempt() == 1) {
      throw new IllegalStateException("the shop is busy");
    }
    System.out.println("closing " + order.id() + " in attempt " + context.attempt());
  }
}
