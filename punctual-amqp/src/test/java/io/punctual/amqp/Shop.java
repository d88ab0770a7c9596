package io.punctual.amqp;

import io.punctual.TaskSubmitService;
import io.punctual.amqp.docs.Orders;
import io.punctual.test.redis.RedisExtension;
import io.punctual.test.redis.SharedRedis;
import java.util.UUID;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** An application in plugin mode, on the Redis of the tests. */
@SpringBootConfiguration
@EnableAutoConfiguration
class Shop {

  /**
   * Starts it.
   *
   * @param rabbitPort where RabbitMQ is, or would be
   */
  static ConfigurableApplicationContext start(int rabbitPort, String... properties) {
    SharedRedis redis = RedisExtension.redis();
    return new SpringApplicationBuilder(Shop.class)
        .web(WebApplicationType.NONE)
        .properties(
            "spring.application.name=shop",
            "spring.data.redis.host=" + redis.host(),
            "spring.data.redis.port=" + redis.port(),
            "spring.rabbitmq.host=127.0.0.1",
            "spring.rabbitmq.port=" + rabbitPort,
            "punctual.key-prefix=amqp" + UUID.randomUUID().toString().substring(0, 8),
            "spring.main.banner-mode=off")
        .properties(properties)
        .run();
  }

  @Bean
  Orders orders(RabbitTemplate rabbit, TaskSubmitService tasks) {
    return new Orders(rabbit, tasks);
  }
}
