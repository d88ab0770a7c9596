package io.punctual.amqp;

import io.punctual.TaskSubmitService;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitOperations;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.amqp.autoconfigure.RabbitTemplateConfigurer;
import org.springframework.boot.amqp.autoconfigure.RabbitTemplateCustomizer;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/** Takes the place of Spring Boot's own template, with the same settings. */
@AutoConfiguration(
    beforeName = "org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration")
@ConditionalOnProperty(prefix = "punctual", name = "enabled", matchIfMissing = true)
public class PunctualAmqpAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean(RabbitOperations.class)
  DelayedRabbitTemplate rabbitTemplate(
      RabbitTemplateConfigurer configurer,
      ConnectionFactory connectionFactory,
      TaskSubmitService tasks,
      ObjectProvider<RabbitTemplateCustomizer> customizers) {
    DelayedRabbitTemplate template = new DelayedRabbitTemplate(connectionFactory, tasks);
    configurer.configure(template, connectionFactory);
    customizers.orderedStream().forEach(customizer -> customizer.customize(template));
    return template;
  }

  @Bean
  DelayedMessages punctualDelayedMessages(ConnectionFactory connectionFactory) {
    return new DelayedMessages(connectionFactory);
  }
}
