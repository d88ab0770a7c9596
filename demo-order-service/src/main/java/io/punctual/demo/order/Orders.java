package io.punctual.demo.order;

import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.stereotype.Component;

/** All orders, in memory. An open order ends once, whoever comes first. */
@Component
class Orders {

  private final Map<String, Order> byId = new ConcurrentSkipListMap<>();
  // Ids must not come again after a restart, since their jobs may still be there.
  private final AtomicLong ids;
  private final Clock clock;

  Orders(Clock clock) {
    this.clock = clock;
    this.ids = new AtomicLong(clock.millis());
  }

  Order open(String item, Instant payUntil) {
    Order order =
        new Order(Long.toString(ids.incrementAndGet()), item, Order.Status.OPEN, payUntil, null);
    byId.put(order.id(), order);
    return order;
  }

  /** Ends an order if it is open; answers what it is now. */
  Optional<Order> end(String id, Order.Status how) {
    return Optional.ofNullable(
        byId.computeIfPresent(
            id,
            (key, order) ->
                order.status() == Order.Status.OPEN ? order.ended(how, clock.instant()) : order));
  }

  void remove(String id) {
    byId.remove(id);
  }

  Optional<Order> find(String id) {
    return Optional.ofNullable(byId.get(id));
  }

  Collection<Order> all() {
    return byId.values();
  }
}
