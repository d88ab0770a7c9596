package io.punctual.demo.order;

import io.punctual.TaskSubmitService;
import java.time.Duration;
import org.springframework.stereotype.Component;

/**
 * What is to happen to an order later. Called inside of a transaction, all of this is written by it
 * to the outbox: it takes effect if that commits, whatever crashes then, and never if it is rolled
 * back.
 *
 * <p>The jobs of an order have its id, by which they are found and cancelled.
 */
@Component
class OrderJobs {

  static final String CLOSE = "order.close";
  static final String REMIND = "order.remind";
  static final String NOTIFY = "payment.notify";

  private final TaskSubmitService tasks;

  OrderJobs(TaskSubmitService tasks) {
    this.tasks = tasks;
  }

  /** What the job says, as JSON. */
  record CloseOrder(String id) {}

  /** What the job says, as JSON. */
  record RemindCustomer(String id) {}

  /** What the job says, and what the partner is told, as JSON. */
  record Payment(String orderId, int cents) {}

  void placed(Order order) {
    tasks
        .job(CLOSE, new CloseOrder(order.id()))
        .id(order.id())
        .at(order.payUntil())
        .tag(tag(order))
        .send();
    tasks
        .job(REMIND, new RemindCustomer(order.id()))
        .id(order.id())
        .at(order.remindAt())
        .tag(tag(order))
        .send();
  }

  /** Should a job be under way already, it finds the order paid and does nothing. */
  void paid(Order order) {
    tasks.cancel(CLOSE, order.id());
    tasks.cancel(REMIND, order.id());
    tasks
        .job(NOTIFY, new Payment(order.id(), order.cents()))
        .id(order.id())
        .in(Duration.ZERO)
        .tag(tag(order))
        .send();
  }

  /** By which the console finds all of them: {@code order:4711}. */
  private static String tag(Order order) {
    return "order:" + order.id();
  }
}
