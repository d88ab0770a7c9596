package io.punctual.demo.order;

import io.punctual.demo.order.Order.Status;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * All orders. What changes one is a conditional update that says whether it did, so that whatever
 * comes twice, or at the same time as something else, takes effect once.
 */
@Repository
class Orders {

  private final JdbcClient db;

  Orders(JdbcClient db) {
    this.db = db;
  }

  void add(Order order) {
    db.sql(
            """
            insert into orders (id, item, note, cents, status, placed_at, remind_at, pay_until)
            values (:id, :item, :note, :cents, :status, :placedAt, :remindAt, :payUntil)
            """)
        .param("id", order.id())
        .param("item", order.item())
        .param("note", order.note())
        .param("cents", order.cents())
        .param("status", order.status().name())
        .param("placedAt", utc(order.placedAt()))
        .param("remindAt", utc(order.remindAt()))
        .param("payUntil", utc(order.payUntil()))
        .update();
  }

  /**
   * Ends an order if it is open.
   *
   * @return whether this call did it
   */
  boolean end(String id, Status how, Instant when) {
    return db.sql(
                """
                update orders set status = :how, ended_at = :at
                where id = :id and status = 'OPEN'
                """)
            .param("how", how.name())
            .param("at", utc(when))
            .param("id", id)
            .update()
        == 1;
  }

  /**
   * Notes that the customer was reminded, if the order is open and that was not so yet.
   *
   * @return whether this call did it
   */
  boolean remind(String id, Instant when) {
    return db.sql(
                """
                update orders set reminded_at = :at
                where id = :id and status = 'OPEN' and reminded_at is null
                """)
            .param("at", utc(when))
            .param("id", id)
            .update()
        == 1;
  }

  /** Notes how often the partner was told. */
  void notifying(String id, int attempt) {
    db.sql("update orders set notify_attempts = :attempt where id = :id and notified_at is null")
        .param("attempt", attempt)
        .param("id", id)
        .update();
  }

  /** Notes that the partner took the payment. */
  void notified(String id, Instant when) {
    db.sql("update orders set notified_at = :at where id = :id and notified_at is null")
        .param("at", utc(when))
        .param("id", id)
        .update();
  }

  Optional<Order> find(String id) {
    return db.sql("select * from orders where id = :id")
        .param("id", id)
        .query(Orders::order)
        .optional();
  }

  /** The latest ones, newest first. */
  List<Order> latest(int max) {
    return db.sql("select * from orders order by placed_at desc, id fetch first :max rows only")
        .param("max", max)
        .query(Orders::order)
        .list();
  }

  private static Order order(ResultSet row, int number) throws SQLException {
    return new Order(
        row.getString("id"),
        row.getString("item"),
        row.getString("note"),
        row.getInt("cents"),
        Status.valueOf(row.getString("status")),
        utc(row, "placed_at"),
        utc(row, "remind_at"),
        utc(row, "pay_until"),
        utcOrNull(row, "reminded_at"),
        utcOrNull(row, "ended_at"),
        row.getInt("notify_attempts"),
        utcOrNull(row, "notified_at"));
  }

  // The one type for moments that all drivers take.
  private static OffsetDateTime utc(Instant time) {
    return time.atOffset(ZoneOffset.UTC);
  }

  private static Instant utc(ResultSet row, String column) throws SQLException {
    return row.getObject(column, OffsetDateTime.class).toInstant();
  }

  private static @Nullable Instant utcOrNull(ResultSet row, String column) throws SQLException {
    OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }
}
