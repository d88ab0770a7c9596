package io.punctual.spring.client;

import io.punctual.client.ClientIdentity;
import io.punctual.client.doctor.ReachReport;
import io.punctual.client.registration.InstanceRegistration;
import io.punctual.client.run.JobRunner;
import io.punctual.client.submit.SchedulerLocator;
import io.punctual.internal.TaskWorkers;
import io.punctual.spring.AnnotatedWorkers;
import io.punctual.spring.autoconfigure.PunctualProperties;
import io.punctual.spring.client.actuate.PunctualEndpoint;
import io.punctual.spring.client.actuate.PunctualHealthIndicator;
import java.util.Locale;
import org.springframework.beans.factory.ObjectProvider;
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
@AutoConfiguration(after = PunctualClientAutoConfiguration.class)
@ConditionalOnBean(JobRunner.class)
public class PunctualActuatorAutoConfiguration {

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
  static class EndpointConfiguration {

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnAvailableEndpoint
    PunctualEndpoint punctualEndpoint(
        ClientIdentity identity,
        TaskWorkers workers,
        JobRunner runner,
        SchedulerLocator locator,
        PunctualProperties properties,
        AnnotatedWorkers annotated,
        ObjectProvider<InstanceRegistration> registration,
        ObjectProvider<ReachReport> reach) {
      return new PunctualEndpoint(
          identity,
          properties.delivery().name().toLowerCase(Locale.ROOT),
          workers,
          runner,
          properties.concurrency(),
          type -> properties.settings(type, annotated),
          type -> properties.concurrency(type, annotated),
          locator,
          registration::getIfAvailable,
          reach::getIfAvailable);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
  static class HealthConfiguration {

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnEnabledHealthIndicator("punctual")
    PunctualHealthIndicator punctualHealthIndicator(
        SchedulerLocator locator,
        ObjectProvider<InstanceRegistration> registration,
        ObjectProvider<ReachReport> reach) {
      return new PunctualHealthIndicator(
          locator, registration::getIfAvailable, reach::getIfAvailable);
    }
  }
}
