package io.punctual.spring.plugin;

import io.punctual.core.Engine;
import io.punctual.spi.JobScheduler;
import io.punctual.spring.autoconfigure.PunctualProperties;
import io.punctual.spring.client.PunctualActuatorAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Endpoint and health, where the application has Spring Boot's actuator. */
@AutoConfiguration(
    after = {PunctualPluginAutoConfiguration.class, PunctualActuatorAutoConfiguration.class})
@ConditionalOnBean(InProcessDispatcher.class)
public class PunctualPluginActuatorAutoConfiguration {

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
  static class EndpointConfiguration {

    // The client starter's has the name, and the same workers.
    @Bean
    @ConditionalOnMissingBean(name = "punctualEndpoint")
    @ConditionalOnAvailableEndpoint
    PunctualEndpoint punctualEndpoint(
        PluginIdentity identity,
        PunctualProperties properties,
        PluginTasks tasks,
        InProcessDispatcher dispatcher,
        Engine engine,
        JobScheduler jobs) {
      return new PunctualEndpoint(
          identity, properties.keyPrefix(), tasks, dispatcher, engine, jobs);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
  static class HealthConfiguration {

    @Bean
    @ConditionalOnMissingBean(name = "punctualHealthIndicator")
    @ConditionalOnEnabledHealthIndicator("punctual")
    PunctualHealthIndicator punctualHealthIndicator(Engine engine) {
      return new PunctualHealthIndicator(engine);
    }

    /** Beside that of the client starter, which has the name. */
    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnEnabledHealthIndicator("punctual")
    PunctualHealthIndicator punctualPluginHealthIndicator(Engine engine) {
      return new PunctualHealthIndicator(engine);
    }
  }
}
