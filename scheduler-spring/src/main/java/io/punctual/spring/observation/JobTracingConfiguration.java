package io.punctual.spring.observation;

import io.micrometer.tracing.Tracer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

/** Traces what is observed; to be imported where there is a {@link Tracer}. */
@Configuration(proxyBeanMethods = false)
public class JobTracingConfiguration {

  /** Before those of Spring Boot, which take any sender and receiver. */
  private static final int ORDER = 500;

  @Bean
  @Order(ORDER)
  JobSubmitTracingHandler punctualJobSubmitTracingHandler(Tracer tracer) {
    return new JobSubmitTracingHandler(tracer);
  }

  @Bean
  @Order(ORDER)
  JobInvokeTracingHandler punctualJobInvokeTracingHandler(Tracer tracer) {
    return new JobInvokeTracingHandler(tracer);
  }
}
