package io.punctual.client.autoconfigure;

import io.micrometer.tracing.Tracer;
import io.punctual.client.tracing.JobTracing;
import io.punctual.client.tracing.MicrometerJobTracing;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Where the application traces, its jobs are traced, too. */
@AutoConfiguration(
    before = PunctualClientAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.micrometer.tracing.opentelemetry.autoconfigure.OpenTelemetryTracingAutoConfiguration",
      "org.springframework.boot.micrometer.tracing.brave.autoconfigure.BraveAutoConfiguration"
    })
@ConditionalOnClass(Tracer.class)
public class PunctualTracingAutoConfiguration {

  @Bean
  @ConditionalOnBean(Tracer.class)
  @ConditionalOnMissingBean
  JobTracing punctualJobTracing(Tracer tracer) {
    return new MicrometerJobTracing(tracer);
  }
}
