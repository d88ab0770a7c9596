package io.punctual.demo.order;

import io.punctual.PunctualException;
import io.punctual.SchedulerUnavailableException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Sends jobs again of which nobody knows whether they were sent: a process may have died between
 * the commit and the send, or no scheduler was there. A job that is there already stays as it is.
 */
@Component
class LostJobs {

  private static final Logger log = LoggerFactory.getLogger(LostJobs.class);

  // At a time; the next ones come with the next round.
  private static final int MAX = 500;
  // Longer than a round: a job comes back before it is due.
  private static final Duration AHEAD = Duration.ofMinutes(1);

  private final Orders orders;
  private final OrderJobs jobs;
  private final Clock clock;

  LostJobs(Orders orders, OrderJobs jobs, Clock clock) {
    this.orders = orders;
    this.jobs = jobs;
    this.clock = clock;
  }

  @Scheduled(fixedDelayString = "${shop.send-again-every:30s}")
  void sendAgain() {
    Instant now = clock.instant();
    try {
      orders.openUntil(now.plus(AHEAD), MAX).forEach(order -> again(order, jobs::placed));
      orders
          .notNotifiedSince(now.minus(AHEAD), MAX)
          .forEach(order -> again(order, jobs::notifyPartner));
    } catch (SchedulerUnavailableException e) {
      log.warn("Jobs cannot be sent again now, so the next round will: {}", e.getMessage());
    }
  }

  private static void again(Order order, Consumer<Order> send) {
    try {
      send.accept(order);
    } catch (SchedulerUnavailableException e) {
      throw e;
    } catch (PunctualException e) {
      // Of this order alone: the others go on.
      log.error("The jobs of order {} cannot be sent again: {}", order.id(), e.getMessage());
    }
  }
}
