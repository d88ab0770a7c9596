package io.punctual.example.modulith;

import io.punctual.DelayedTask;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Places orders, and closes those that are not paid in time. */
@Service
public class Orders {

  private final JdbcTemplate jdbc;
  private final ApplicationEventPublisher events;

  Orders(JdbcTemplate jdbc, ApplicationEventPublisher events) {
    this.jdbc = jdbc;
    this.events = events;
  }

  /** Stores an order and its event in one transaction. */
  @Transactional
  public void place(String id, long amount) {
    jdbc.update("insert into orders (id, amount, state) values (?, ?, 'placed')", id, amount);
    events.publishEvent(new OrderPlaced(id, amount));
  }

  /** Closes the order of the event. */
  @DelayedTask("order.close")
  void close(OrderPlaced order) {
    jdbc.update("update orders set state = 'closed' where id = ? and state = 'placed'", order.id());
    System.out.println("closed " + order.id() + " of " + order.amount());
  }
}
