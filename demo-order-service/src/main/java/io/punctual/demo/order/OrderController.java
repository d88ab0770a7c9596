package io.punctual.demo.order;

import io.punctual.demo.order.OrderService.NewOrder;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Place orders, look at them, pay. */
@RestController
@RequestMapping("/orders")
class OrderController {

  private static final int SHOWN = 50;

  private final OrderService shop;
  private final Orders orders;

  OrderController(OrderService shop, Orders orders) {
    this.shop = shop;
    this.orders = orders;
  }

  @PostMapping
  @ResponseStatus(HttpStatus.CREATED)
  Order place(@RequestBody NewOrder wish) {
    return shop.place(wish);
  }

  @GetMapping
  List<Order> latest() {
    return orders.latest(SHOWN);
  }

  @GetMapping("/{id}")
  Order find(@PathVariable String id) {
    return shop.find(id);
  }

  @PostMapping("/{id}/pay")
  Order pay(@PathVariable String id) {
    return shop.pay(id);
  }
}
