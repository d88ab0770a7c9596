package io.punctual.demo.order;

import io.punctual.CancelResult;
import io.punctual.DelayQueueJob;
import io.punctual.PunctualException;
import io.punctual.TaskSubmitService;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Place orders, look at them, pay. */
@RestController
@RequestMapping("/orders")
class OrderController {

  private final Orders orders;
  private final TaskSubmitService tasks;
  private final Clock clock;
  private final Duration timeToPay;

  OrderController(
      Orders orders,
      TaskSubmitService tasks,
      Clock clock,
      @Value("${shop.time-to-pay}") Duration timeToPay) {
    this.orders = orders;
    this.tasks = tasks;
    this.clock = clock;
    this.timeToPay = timeToPay;
  }

  /**
   * A new order.
   *
   * @param payWithinSeconds how long it may be paid; the shop's own time when absent
   */
  record NewOrder(@Nullable String item, @Nullable Integer payWithinSeconds) {}

  @PostMapping
  ResponseEntity<Order> place(@RequestBody NewOrder wish) {
    Integer seconds = wish.payWithinSeconds();
    if (wish.item() == null || wish.item().isBlank() || (seconds != null && seconds < 0)) {
      throw new ResponseStatusException(
          HttpStatus.BAD_REQUEST, "item must be given, payWithinSeconds must not be negative");
    }
    Duration pay = seconds == null ? timeToPay : Duration.ofSeconds(seconds);
    Order order = orders.open(wish.item(), clock.instant().plus(pay));
    try {
      tasks.send(
          DelayQueueJob.of(CloseUnpaidOrder.TYPE)
              .taskId(order.id())
              .params(order.id())
              .dueAt(order.payUntil())
              .build());
    } catch (PunctualException e) {
      // Without its closing job the order would stay open for ever.
      orders.remove(order.id());
      throw new ResponseStatusException(
          HttpStatus.SERVICE_UNAVAILABLE, "no order can be taken at the moment", e);
    }
    return ResponseEntity.status(HttpStatus.CREATED).body(order);
  }

  @GetMapping
  Collection<Order> all() {
    return orders.all();
  }

  @GetMapping("/{id}")
  Order find(@PathVariable String id) {
    return orders.find(id).orElseThrow(OrderController::unknown);
  }

  @PostMapping("/{id}/pay")
  Order pay(@PathVariable String id) {
    Order order = orders.end(id, Order.Status.PAID).orElseThrow(OrderController::unknown);
    if (order.status() == Order.Status.CLOSED) {
      throw new ResponseStatusException(
          HttpStatus.CONFLICT, "order " + id + " was closed at " + order.endedAt());
    }
    CancelResult cancelled = tasks.cancel(CloseUnpaidOrder.TYPE, id);
    // Should the job be under way already, it finds the order paid and does nothing.
    return cancelled.cancelled() ? order : orders.find(id).orElse(order);
  }

  private static ResponseStatusException unknown() {
    return new ResponseStatusException(HttpStatus.NOT_FOUND, "no such order");
  }
}
