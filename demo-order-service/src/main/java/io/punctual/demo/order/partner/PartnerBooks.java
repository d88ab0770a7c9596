package io.punctual.demo.order.partner;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/** The payments that the partner knows; the same for all instances of the shop. */
@Repository
public class PartnerBooks {

  private final JdbcClient db;

  PartnerBooks(JdbcClient db) {
    this.db = db;
  }

  /** How well the partner is. */
  public PartnerMode mode() {
    return PartnerMode.valueOf(
        db.sql("select mode from partner_settings").query(String.class).single());
  }

  void mode(PartnerMode mode) {
    db.sql("update partner_settings set mode = :mode").param("mode", mode.name()).update();
  }

  /** Takes a payment; once for each key, however often it comes. */
  void take(String key, String orderId, int cents) {
    try {
      db.sql("insert into partner_payments values (:key, :order, :cents)")
          .param("key", key)
          .param("order", orderId)
          .param("cents", cents)
          .update();
    } catch (DuplicateKeyException e) {
      // It is there.
    }
  }
}
