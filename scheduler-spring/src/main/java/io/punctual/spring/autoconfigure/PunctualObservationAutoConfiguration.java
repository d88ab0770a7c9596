package io.punctual.spring.autoconfigure;

import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import io.punctual.internal.AttemptObservations;
import io.punctual.spring.SubmitObservations;
import io.punctual.spring.observation.JobInvokeObservationConvention;
import io.punctual.spring.observation.JobInvokeTracingHandler;
import io.punctual.spring.observation.JobSubmitObservationConvention;
import io.punctual.spring.observation.JobSubmitTracingHandler;
import io.punctual.spring.observation.MicrometerAttemptObservations;
import io.punctual.spring.observation.MicrometerSubmitObservations;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

/** Observes the jobs of an application that has observations, and traces them if it traces. */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
      "org.springframework.boot.micrometer.tracing.opentelemetry.autoconfigure.OpenTelemetryTracingAutoConfiguration",
      "org.springframework.boot.micrometer.tracing.brave.autoconfigure.BraveAutoConfiguration"
    })
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnProperty(prefix = "punctual", name = "enabled", matchIfMissing = true)
public class PunctualObservationAutoConfiguration {

  @Bean
  @ConditionalOnBean(ObservationRegistry.class)
  @ConditionalOnMissingBean
  SubmitObservations punctualSubmitObservations(
      ObservationRegistry registry, ObjectProvider<JobSubmitObservationConvention> convention) {
    return new MicrometerSubmitObservations(registry, convention.getIfAvailable());
  }

  @Bean
  @ConditionalOnBean(ObservationRegistry.class)
  @ConditionalOnMissingBean
  AttemptObservations punctualAttemptObservations(
      ObservationRegistry registry, ObjectProvider<JobInvokeObservationConvention> convention) {
    return new MicrometerAttemptObservations(registry, convention.getIfAvailable());
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(Tracer.class)
  @ConditionalOnBean(Tracer.class)
  static class Tracing {

    /** Before those of Spring Boot, which take any sender and receiver. */
    private static final int ORDER = 500;

    @Bean
    @ConditionalOnMissingBean
    @Order(ORDER)
    JobSubmitTracingHandler punctualJobSubmitTracingHandler(Tracer tracer) {
      return new JobSubmitTracingHandler(tracer);
    }

    @Bean
    @ConditionalOnMissingBean
    @Order(ORDER)
    JobInvokeTracingHandler punctualJobInvokeTracingHandler(Tracer tracer) {
      return new JobInvokeTracingHandler(tracer);
    }
  }
}
