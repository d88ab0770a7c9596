package io.punctual.demo.order;

import java.time.Clock;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** The shop as a program. */
@SpringBootApplication
@EnableConfigurationProperties(ShopProperties.class)
public class OrderServiceApplication {

  public static void main(String[] args) {
    SpringApplication.run(OrderServiceApplication.class, args);
  }

  /** Asked wherever time matters, so that tests can move it. */
  @Bean
  Clock clock() {
    return Clock.systemUTC();
  }
}
