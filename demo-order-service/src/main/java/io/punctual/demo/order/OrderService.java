package io.punctual.demo.order;

import io.punctual.demo.order.Order.Status;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** What happens in the shop. Orders, stock and jobs change together or not at all. */
@Service
class OrderService {

  private static final Duration LONGEST = Duration.ofDays(7);
  private static final int LONGEST_NOTE = 100;

  private final Orders orders;
  private final Items items;
  private final OrderJobs jobs;
  private final ShopProperties rules;
  private final Clock clock;
  private final SecureRandom random = new SecureRandom();

  OrderService(Orders orders, Items items, OrderJobs jobs, ShopProperties rules, Clock clock) {
    this.orders = orders;
    this.items = items;
    this.jobs = jobs;
    this.rules = rules;
    this.clock = clock;
  }

  /**
   * A new order.
   *
   * @param item what is bought
   * @param note anything, for people; may be left out
   * @param payWithinSeconds how long it may be paid; the shop's own time when absent
   */
  record NewOrder(
      @Nullable String item, @Nullable String note, @Nullable Integer payWithinSeconds) {}

  /** Takes one of the item from the stock until the order is paid or closes. */
  @Transactional
  public Order place(NewOrder wish) {
    Item item = onSale(wish.item());
    String note = note(wish.note());
    Duration timeToPay = timeToPay(wish.payWithinSeconds());
    if (!items.take(item.name())) {
      throw OrderException.soldOut(item.name());
    }
    Instant now = now();
    Instant payUntil = now.plus(timeToPay);
    Order order =
        Order.open(newId(), item, note, now, payUntil.minus(reminder(timeToPay)), payUntil);
    orders.add(order);
    jobs.placed(order);
    return order;
  }

  /** Pays an order; one that is paid already stays as it is. */
  @Transactional
  public Order pay(String id) {
    boolean paid = orders.end(id, Status.PAID, now());
    Order order = find(id);
    if (paid) {
      jobs.paid(order);
    } else if (order.status() == Status.CLOSED) {
      throw OrderException.closed(order);
    }
    return order;
  }

  /**
   * Closes an order that nobody paid, and gives its item back to the stock.
   *
   * @return whether this call did it; not so if it was paid, is closed already, or is not known
   */
  @Transactional
  public boolean closeIfUnpaid(String id) {
    if (!orders.end(id, Status.CLOSED, now())) {
      return false;
    }
    items.giveBack(find(id).item());
    return true;
  }

  /** The order of that id. */
  public Order find(String id) {
    return look(id).orElseThrow(() -> OrderException.unknown(id));
  }

  /** The order of that id, if there is one. */
  public Optional<Order> look(String id) {
    return orders.find(id);
  }

  // Not finer than jobs are: an order must not seem to close before its time.
  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MILLIS);
  }

  // Not counted up: an id must never come again, also after the database was thrown away, since the
  // scheduler may still know its job.
  private String newId() {
    return Long.toString(random.nextLong(1L << 45, 1L << 50), 32);
  }

  private Item onSale(@Nullable String name) {
    List<Item> all = items.all();
    return all.stream()
        .filter(item -> item.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                OrderException.invalid(
                    "item",
                    "must be one of " + String.join(", ", all.stream().map(Item::name).toList())));
  }

  private static @Nullable String note(@Nullable String note) {
    if (note == null || note.isBlank()) {
      return null;
    }
    if (note.length() > LONGEST_NOTE
        || note.codePoints().anyMatch(c -> Character.isISOControl(c) || isHalf(c))) {
      throw OrderException.invalid(
          "note", "must be at most " + LONGEST_NOTE + " characters in one line");
    }
    return note.strip();
  }

  // Half a character is none, and not all databases store it.
  private static boolean isHalf(int codePoint) {
    return Character.getType(codePoint) == Character.SURROGATE;
  }

  private Duration timeToPay(@Nullable Integer seconds) {
    if (seconds == null) {
      return rules.timeToPay();
    }
    if (seconds < 0 || seconds > LONGEST.toSeconds()) {
      throw OrderException.invalid(
          "payWithinSeconds", "must be between 0 and " + LONGEST.toSeconds() + ", not " + seconds);
    }
    return Duration.ofSeconds(seconds);
  }

  private Duration reminder(Duration timeToPay) {
    Duration third = timeToPay.dividedBy(3).truncatedTo(ChronoUnit.MILLIS);
    return third.compareTo(rules.remindBefore()) < 0 ? third : rules.remindBefore();
  }
}
