package io.punctual.demo.order;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An order, as the database has it and as the API shows it.
 *
 * @param note what the customer wrote, for people
 * @param cents the price when it was placed
 * @param remindAt when the customer is reminded unless it has ended
 * @param payUntil when it closes itself unless paid
 * @param remindedAt when the customer was reminded
 * @param endedAt when it was paid or closed
 * @param notifyAttempts how often the partner was told of the payment so far
 * @param notifiedAt when the partner took that
 */
record Order(
    String id,
    String item,
    @Nullable String note,
    int cents,
    Status status,
    Instant placedAt,
    Instant remindAt,
    Instant payUntil,
    @Nullable Instant remindedAt,
    @Nullable Instant endedAt,
    int notifyAttempts,
    @Nullable Instant notifiedAt) {

  /** What may become of it. */
  enum Status {
    OPEN,
    PAID,
    CLOSED
  }

  static Order open(
      String id, Item item, @Nullable String note, Instant now, Instant remindAt, Instant until) {
    return new Order(
        id,
        item.name(),
        note,
        item.cents(),
        Status.OPEN,
        now,
        remindAt,
        until,
        null,
        null,
        0,
        null);
  }
}
