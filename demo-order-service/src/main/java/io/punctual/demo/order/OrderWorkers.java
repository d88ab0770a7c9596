package io.punctual.demo.order;

import io.punctual.DelayedTask;
import io.punctual.TaskContext;
import io.punctual.demo.order.OrderJobs.CloseOrder;
import io.punctual.demo.order.OrderJobs.Payment;
import io.punctual.demo.order.OrderJobs.RemindCustomer;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Called when a job is due. Each may come twice; the second time changes nothing. */
@Component
class OrderWorkers {

  private static final Logger log = LoggerFactory.getLogger(OrderWorkers.class);

  private final OrderService shop;
  private final Orders orders;
  private final Partner partner;
  private final Clock clock;

  OrderWorkers(OrderService shop, Orders orders, Partner partner, Clock clock) {
    this.shop = shop;
    this.orders = orders;
    this.partner = partner;
    this.clock = clock;
  }

  @DelayedTask(OrderJobs.CLOSE)
  void close(CloseOrder job, TaskContext context) {
    if (shop.closeIfUnpaid(job.id())) {
      log.info(
          "order {} closed, {} ms after its time to pay ended",
          job.id(),
          context.lateness().toMillis());
    } else {
      log.info(
          "order {} {}, nothing to do",
          job.id(),
          shop.look(job.id())
              .map(order -> "is " + order.status() + " already")
              .orElse("is not known here any more"));
    }
  }

  @DelayedTask(OrderJobs.REMIND)
  void remind(RemindCustomer job) {
    // A shop of yours would send a mail here.
    if (orders.remind(job.id(), clock.instant().truncatedTo(ChronoUnit.MILLIS))) {
      log.info(
          "reminded the customer of order {}: it is not paid, and can be paid until {}",
          job.id(),
          shop.find(job.id()).payUntil());
    }
  }

  /** If the partner throws, the attempt has failed, and the retry policy sets the next one. */
  @DelayedTask(type = OrderJobs.NOTIFY, retry = "notify", timeToRun = "15s", concurrency = "10")
  void notifyPartner(Payment payment, TaskContext context) {
    orders.notifying(payment.orderId(), context.attempt());
    partner.tell(payment, context);
    orders.notified(payment.orderId(), clock.instant().truncatedTo(ChronoUnit.MILLIS));
    log.info(
        "order {} is paid, and the partner took it at attempt {}",
        payment.orderId(),
        context.attempt());
  }
}
