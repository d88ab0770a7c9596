package io.punctual.amqp;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.TaskSubmitService;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.config.SimpleRabbitListenerContainerFactory;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitMessagingTemplate;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** What an application gets, by its connection factories. */
class PunctualAmqpAutoConfigurationTest {

  private static final AutoConfigurations OURS =
      AutoConfigurations.of(PunctualAmqpAutoConfiguration.class);
  private static final AutoConfigurations WITH_BOOTS =
      AutoConfigurations.of(PunctualAmqpAutoConfiguration.class, RabbitAutoConfiguration.class);

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withBean(TaskSubmitService.class, PunctualAmqpAutoConfigurationTest::neverCalled);

  private static TaskSubmitService neverCalled() {
    return (TaskSubmitService)
        Proxy.newProxyInstance(
            TaskSubmitService.class.getClassLoader(),
            new Class<?>[] {TaskSubmitService.class},
            (proxy, method, arguments) -> {
              throw new UnsupportedOperationException(method.toString());
            });
  }

  private static ConnectionFactory factory() {
    return new CachingConnectionFactory("127.0.0.1", 1);
  }

  @Test
  void theTemplateTakesThePlaceOfBoots() {
    runner
        .withConfiguration(WITH_BOOTS)
        .run(
            context -> {
              assertThat(context).hasNotFailed().hasSingleBean(DelayedMessages.class);
              assertThat(context.getBean(RabbitTemplate.class))
                  .isExactlyInstanceOf(DelayedRabbitTemplate.class)
                  .isSameAs(context.getBean(RabbitMessagingTemplate.class).getRabbitTemplate());
            });
  }

  @Test
  void withSeveralConnectionFactoriesThePrimaryOneIsUsed() {
    runner
        .withConfiguration(WITH_BOOTS)
        .withBean("a", ConnectionFactory.class, PunctualAmqpAutoConfigurationTest::factory)
        .withBean(
            "b",
            ConnectionFactory.class,
            PunctualAmqpAutoConfigurationTest::factory,
            definition -> definition.setPrimary(true))
        .run(
            context ->
                assertThat(context.getBean(DelayedRabbitTemplate.class).getConnectionFactory())
                    .isSameAs(context.getBean("b")));
  }

  @Test
  void withSeveralAndNoPrimaryOneThereIsNoTemplate() {
    runner
        .withConfiguration(WITH_BOOTS)
        .withBean("a", ConnectionFactory.class, PunctualAmqpAutoConfigurationTest::factory)
        .withBean("b", ConnectionFactory.class, PunctualAmqpAutoConfigurationTest::factory)
        // Without one, Spring Boot alone does not start with two connection factories.
        .withBean(
            "rabbitListenerContainerFactory",
            SimpleRabbitListenerContainerFactory.class,
            SimpleRabbitListenerContainerFactory::new)
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean(RabbitTemplate.class)
                    .doesNotHaveBean(DelayedMessages.class));
  }

  @Test
  void withoutAConnectionFactoryThereIsNoTemplate() {
    runner
        .withConfiguration(OURS)
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .doesNotHaveBean(RabbitTemplate.class)
                    .doesNotHaveBean(DelayedMessages.class));
  }

  @Test
  void aTemplateOfTheApplicationStays() {
    runner
        .withConfiguration(WITH_BOOTS)
        .withBean("rabbitTemplate", RabbitTemplate.class, () -> new RabbitTemplate(factory()))
        .run(
            context ->
                assertThat(context.getBean(RabbitTemplate.class))
                    .isExactlyInstanceOf(RabbitTemplate.class));
  }
}
