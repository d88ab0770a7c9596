package io.punctual.server.web;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.punctual.server.jobs.LongPolls;
import java.util.Objects;
import java.util.function.Supplier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.core.env.Profiles;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverters;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Mounts the limits in front of everything, and measures what they count. Takes out the converter
 * of XML, which Spring adds since Eureka's client brings JAXB: it would be asked at each answer.
 */
@Configuration(proxyBeanMethods = false)
class WebConfiguration implements WebMvcConfigurer {

  @Override
  public void configureMessageConverters(HttpMessageConverters.ServerBuilder builder) {
    builder.configureMessageConvertersList(
        converters ->
            converters.removeIf(
                converter ->
                    converter.getSupportedMediaTypes().contains(MediaType.APPLICATION_XML)));
  }

  @Bean
  FilterRegistrationBean<RequestLimits> requestLimits(Environment environment) {
    FilterRegistrationBean<RequestLimits> registration =
        new FilterRegistrationBean<>(
            new RequestLimits(
                RequestLimits.ofHeap(),
                BodyMemoryLimit.ofHeap(BodyMemoryLimit.MAX_BATCH_BODY),
                new FormLimit(environment.acceptsProfiles(Profiles.of("quickstart")))));
    registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
    return registration;
  }

  @Bean
  LongPolls.Connections connections(
      @Value("${server.tomcat.max-connections:8192}") int configured) {
    return () -> TomcatSetup.connections(configured);
  }

  @Bean
  MeterBinder limitsInUse(FilterRegistrationBean<RequestLimits> registration) {
    RequestLimits limits = Objects.requireNonNull(registration.getFilter());
    return registry -> {
      inUse(registry, "calls", limits::open);
      inUse(registry, "body_bytes", limits::bodyBytes);
      inUse(registry, "callers", limits::callers);
    };
  }

  private static void inUse(MeterRegistry registry, String what, Supplier<Number> amount) {
    Gauge.builder("punctual.in.use", amount)
        .tag("what", what)
        .description("What calls, pulls and deliveries under way take; 0 at rest")
        .register(registry);
  }
}
