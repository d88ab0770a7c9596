package io.punctual.systemtest.guide;

import org.springframework.boot.ApplicationRunner;
import org.springframework.context.annotation.Bean;

/** The runner that is added to the application of the first job. */
class TwoOrders {

  interface Orders {
    void place(String id);

    void pay(String id);
  }

  @Bean
  ApplicationRunner twoOrders(Orders orders) {
    return args -> {
      orders.place("1002");
      orders.place("1003");
      orders.pay("1003");
    };
  }
}
