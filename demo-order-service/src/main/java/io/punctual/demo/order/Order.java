package io.punctual.demo.order;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An order.
 *
 * @param payUntil when it closes itself unless paid
 * @param endedAt when it was paid or closed
 */
record Order(String id, String item, Status status, Instant payUntil, @Nullable Instant endedAt) {

  /** What may become of it. */
  enum Status {
    OPEN,
    PAID,
    CLOSED
  }

  Order ended(Status how, Instant when) {
    return new Order(id, item, how, payUntil, when);
  }
}
