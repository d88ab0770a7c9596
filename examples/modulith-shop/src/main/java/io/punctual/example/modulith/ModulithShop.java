package io.punctual.example.modulith;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RestController;

/** A shop in which an order that is not paid within half an hour is closed. */
@SpringBootApplication
@EnableScheduling
public class ModulithShop {

  /** Starts the shop. */
  public static void main(String[] arguments) {
    SpringApplication.run(ModulithShop.class, arguments);
  }

  /** The shop over HTTP. */
  @RestController
  static class Shop {

    private final Orders orders;
    private final JdbcTemplate jdbc;

    Shop(Orders orders, JdbcTemplate jdbc) {
      this.orders = orders;
      this.jdbc = jdbc;
    }

    @PutMapping("/orders/{id}/{amount}")
    void place(@PathVariable String id, @PathVariable long amount) {
      orders.place(id, amount);
    }

    @GetMapping("/orders/{id}")
    String state(@PathVariable String id) {
      return jdbc.queryForList("select state from orders where id = ?", String.class, id).stream()
          .findFirst()
          .orElse("unknown");
    }

    /** How many events have no job yet. */
    @GetMapping("/incomplete")
    int incomplete() {
      return jdbc.queryForList("select id from event_publication where completion_date is null")
          .size();
    }
  }
}
