package io.punctual.systemtest.amqp;

import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Sends delayed messages; its worker, which publishes them, is that of punctual-amqp. */
@SpringBootApplication
@RestController
public class AmqpShop {

  private final RabbitTemplate rabbit;

  AmqpShop(RabbitTemplate rabbit) {
    this.rabbit = rabbit;
  }

  public static void main(String[] args) {
    SpringApplication.run(AmqpShop.class, args);
  }

  /**
   * Sends messages {@code m-<n>}. The header {@code earliest} has the time, in epoch ms, before
   * which a message must not be published.
   *
   * @param delay of the first, in ms
   * @param apart how much later each further one is due, in ms
   */
  @PostMapping("/messages")
  void send(
      @RequestParam int first,
      @RequestParam int count,
      @RequestParam long delay,
      @RequestParam int apart) {
    for (int i = first; i < first + count; i++) {
      String id = "m-" + i;
      long wait = delay + (long) (i - first) * apart;
      rabbit.convertAndSend(
          "orders",
          "order.close",
          id,
          message -> {
            message.getMessageProperties().setMessageId(id);
            message.getMessageProperties().setDelayLong(wait);
            message.getMessageProperties().setHeader("earliest", System.currentTimeMillis() + wait);
            return message;
          });
    }
  }
}
