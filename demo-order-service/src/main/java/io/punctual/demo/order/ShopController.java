package io.punctual.demo.order;

import io.punctual.demo.order.partner.PartnerBooks;
import io.punctual.demo.order.partner.PartnerMode;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** All that the page shows, in one answer. */
@RestController
class ShopController {

  private static final int SHOWN = 50;

  private final Items items;
  private final Orders orders;
  private final PartnerBooks partner;
  private final Clock clock;

  ShopController(Items items, Orders orders, PartnerBooks partner, Clock clock) {
    this.items = items;
    this.orders = orders;
    this.partner = partner;
    this.clock = clock;
  }

  /**
   * The shop.
   *
   * @param now by the shop's clock, so that the page need not trust its own
   */
  record Shop(Instant now, List<Item> items, List<Order> orders, PartnerMode partner) {}

  @GetMapping("/shop")
  Shop shop() {
    return new Shop(clock.instant(), items.all(), orders.latest(SHOWN), partner.mode());
  }
}
