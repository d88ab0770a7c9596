package io.punctual.systemtest.guide.first;

import io.punctual.DelayedTask;
import io.punctual.TaskSubmitService;
import java.time.Duration;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

@SpringBootApplication
public class FirstShop {
  public static void main(String[] args) {
    SpringApplication.run(FirstShop.class, args);
  }

  record CloseOrder(String id) {}

  @DelayedTask("order.close")
  void close(CloseOrder order) {
    System.out.println("closing " + order.id());
  }

  @Bean
  ApplicationRunner firstOrder(TaskSubmitService tasks) {
    return args -> tasks.send("order.close", new CloseOrder("1001"), Duration.ofSeconds(2));
  }
}
