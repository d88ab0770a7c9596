package io.punctual.server.web;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.punctual.server.jobs.LongPolls;
import jakarta.servlet.Filter;
import java.util.Objects;
import java.util.function.Supplier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.security.autoconfigure.web.servlet.SecurityFilterProperties;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.core.env.Profiles;

/**
 * Mounts the limits. The container decides by the decoded path which of them a request meets, as it
 * does for what serves the request.
 */
@Configuration(proxyBeanMethods = false)
class WebConfiguration {

  private static final String API = "/api/*";

  @Bean
  FilterRegistrationBean<FormLimit> formLimit(Environment environment) {
    return at(
        Ordered.HIGHEST_PRECEDENCE,
        "/*",
        new FormLimit(environment.acceptsProfiles(Profiles.of("quickstart"))));
  }

  @Bean
  FilterRegistrationBean<InFlightLimit> inFlightLimit(WebProperties properties) {
    return at(
        Ordered.HIGHEST_PRECEDENCE + 1,
        API,
        new InFlightLimit(
            InFlightLimit.ofHeap(),
            BodyMemoryLimit.ofHeap(properties.api().maxBatchBody().toBytes())));
  }

  @Bean
  FilterRegistrationBean<CallerLimit> callerLimit() {
    return at(
        SecurityFilterProperties.DEFAULT_FILTER_ORDER + 1,
        API,
        new CallerLimit(InFlightLimit.ofHeap()));
  }

  @Bean
  LongPolls.Connections connections(
      @Value("${server.tomcat.max-connections:8192}") int configured) {
    return () -> TomcatSetup.connections(configured);
  }

  @Bean
  MeterBinder limitsInUse(
      FilterRegistrationBean<InFlightLimit> all, FilterRegistrationBean<CallerLimit> callers) {
    return registry -> {
      inUse(registry, "calls", Objects.requireNonNull(all.getFilter())::open);
      inUse(registry, "body_bytes", Objects.requireNonNull(all.getFilter())::bodyBytes);
      inUse(registry, "callers", Objects.requireNonNull(callers.getFilter())::callers);
    };
  }

  private static void inUse(MeterRegistry registry, String what, Supplier<Number> amount) {
    Gauge.builder("punctual.in.use", amount)
        .tag("what", what)
        .description("What calls, pulls and deliveries under way take; 0 at rest")
        .register(registry);
  }

  private static <F extends Filter> FilterRegistrationBean<F> at(int order, String path, F filter) {
    FilterRegistrationBean<F> registration = new FilterRegistrationBean<>(filter);
    registration.addUrlPatterns(path);
    registration.setOrder(order);
    return registration;
  }
}
