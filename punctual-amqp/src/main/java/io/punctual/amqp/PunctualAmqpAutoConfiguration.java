package io.punctual.amqp;

import io.punctual.TaskSubmitService;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitOperations;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.amqp.autoconfigure.RabbitTemplateConfigurer;
import org.springframework.boot.amqp.autoconfigure.RabbitTemplateCustomizer;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Takes the place of Spring Boot's own template, with the same settings. An application that has no
 * connection factory, or several and none of them primary, gets neither a template nor a worker.
 */
@AutoConfiguration(
    afterName = "org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration")
@ConditionalOnProperty(prefix = "punctual", name = "enabled", matchIfMissing = true)
@ConditionalOnSingleCandidate(ConnectionFactory.class)
public class PunctualAmqpAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean(RabbitOperations.class)
  @ConditionalOnBean(RabbitTemplateConfigurer.class)
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

  /** Nested, so that it is read before the template above. */
  @Configuration(proxyBeanMethods = false)
  @Import(WithoutBootsTemplate.class)
  static class Replacement {}

  /**
   * Removes the template of Spring Boot. Its conditions are known only after it was declared: our
   * configuration cannot come before it.
   */
  static final class WithoutBootsTemplate implements ImportBeanDefinitionRegistrar {

    private static final String NAME = "rabbitTemplate";

    @Override
    public void registerBeanDefinitions(
        AnnotationMetadata importing, BeanDefinitionRegistry registry) {
      if (registry.containsBeanDefinition(NAME)) {
        String declaredBy = registry.getBeanDefinition(NAME).getFactoryBeanName();
        if (declaredBy != null
            && declaredBy.startsWith("org.springframework.boot.amqp.autoconfigure.")) {
          registry.removeBeanDefinition(NAME);
        }
      }
    }
  }
}
