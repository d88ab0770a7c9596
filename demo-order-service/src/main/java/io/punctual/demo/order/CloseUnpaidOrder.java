package io.punctual.demo.order;

import io.punctual.TaskWorker;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Runs when an order's time to pay is over. May run twice; the second time changes nothing. */
@Component
class CloseUnpaidOrder implements TaskWorker {

  static final String TYPE = "order.close";

  private static final Logger log = LoggerFactory.getLogger(CloseUnpaidOrder.class);

  private final Orders orders;
  private final Clock clock;

  CloseUnpaidOrder(Orders orders, Clock clock) {
    this.orders = orders;
    this.clock = clock;
  }

  @Override
  public String type() {
    return TYPE;
  }

  @Override
  public void invoke(String orderId) {
    Instant now = clock.instant();
    orders
        .end(orderId, Order.Status.CLOSED)
        .ifPresentOrElse(
            order ->
                log.info(
                    "order {} {}, {} ms after its time to pay ended",
                    orderId,
                    order.status() == Order.Status.CLOSED ? "closed" : "was paid, nothing to do",
                    Duration.between(order.payUntil(), now).toMillis()),
            () -> log.info("order {} is not known here any more, nothing to do", orderId));
  }
}
