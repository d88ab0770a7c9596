package io.punctual.spring.client;

import io.punctual.client.ClientIdentity;
import io.punctual.client.callback.CallbackHandler;
import io.punctual.client.doctor.ReachReport;
import io.punctual.client.registration.InstanceRegistration;
import io.punctual.client.registration.SchedulerRegistration;
import io.punctual.client.run.JobRunner;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.client.submit.SchedulerLocator;
import io.punctual.internal.TaskWorkers;
import io.punctual.spring.autoconfigure.PunctualProperties;
import io.punctual.wire.WorkerMetadata;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.URI;
import java.util.function.Supplier;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.web.server.Ssl;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.web.util.UriComponentsBuilder;

/**
 * Registers this instance in a registry, or at schedulers. Declare no other auto-configuration
 * after this one: Spring Boot would then order this one before those of registries.
 */
@AutoConfiguration(after = PunctualServiceRegistryAutoConfiguration.class)
@AutoConfigureOrder(Ordered.LOWEST_PRECEDENCE)
@ConditionalOnBean({CallbackHandler.class, WorkerMetadata.class})
public class PunctualRegistrationAutoConfiguration {

  @Bean
  StartupReport punctualStartupReport(
      ClientIdentity identity,
      TaskWorkers workers,
      SchedulerLocator locator,
      WorkerMetadata metadata,
      ObjectProvider<InstanceRegistration> registration,
      Environment environment) {
    return new StartupReport(
        identity, workers, locator, metadata, registration.getIfAvailable(), environment);
  }

  @Bean
  @ConditionalOnBean(InstanceRegistration.class)
  Drain punctualDrain(
      InstanceRegistration registration,
      JobRunner runner,
      TaskWorkers workers,
      PunctualProperties properties) {
    workers.onChange(registration::update);
    return new Drain(registration, runner, properties.shutdownPatience());
  }

  /** Only where there are workers: an application that submits and nothing else is not called. */
  @Bean(destroyMethod = "close")
  @ConditionalOnBean(InstanceRegistration.class)
  ReachReport punctualReachReport(
      ClientIdentity identity, InstanceRegistration registration, SchedulerCalls calls) {
    return new ReachReport(identity, registration, calls);
  }

  @Bean
  @ConditionalOnBean(InstanceRegistration.class)
  ApplicationListener<ApplicationReadyEvent> punctualReachReportStart(
      ReachReport report, TaskWorkers workers) {
    return event -> {
      if (!workers.types().isEmpty()) {
        report.start();
      }
    };
  }

  /** Before the beans that ask for its bean. */
  @Configuration(proxyBeanMethods = false)
  @Conditional(AtSchedulers.class)
  static class Schedulers {

    @Bean
    @ConditionalOnMissingBean(InstanceRegistration.class)
    SchedulerRegistration punctualSchedulerRegistration(
        ClientIdentity identity,
        SchedulerCalls calls,
        WorkerMetadata metadata,
        TaskWorkers workers,
        PunctualProperties properties,
        Environment environment) {
      Supplier<WorkerMetadata> now = () -> metadata.withTaskTypes(workers.types());
      URI own = properties.callback().base();
      return own == null
          ? SchedulerRegistration.atLocalAddress(
              identity, calls, now, host -> server(host, environment))
          : new SchedulerRegistration(
              identity,
              calls,
              now,
              URI.create(own.getScheme() + "://" + own.getAuthority() + metadata.callbackPath()));
    }

    private static URI server(String host, Environment environment) {
      String port = environment.getProperty("local.server.port");
      if (port == null) {
        throw new IllegalStateException("the port of the web server is not known");
      }
      Binder binder = Binder.get(environment);
      InetAddress bound = binder.bind("server.address", InetAddress.class).orElse(null);
      boolean secure = Ssl.isEnabled(binder.bind("server.ssl", Ssl.class).orElse(null));
      return UriComponentsBuilder.newInstance()
          .scheme(secure ? "https" : "http")
          .host(
              bound == null || bound.isAnyLocalAddress()
                  ? host
                  : bound instanceof Inet6Address
                      ? "[" + bound.getHostAddress().replaceFirst("%.*", "") + "]"
                      : bound.getHostAddress())
          .port(port)
          .build()
          .toUri();
    }
  }

  /** Where the properties say so, or no registry's client registers this instance. */
  static final class AtSchedulers extends AnyNestedCondition {

    AtSchedulers() {
      super(ConfigurationPhase.REGISTER_BEAN);
    }

    @ConditionalOnProperty(prefix = "punctual", name = "registration", havingValue = "scheduler")
    static class Asked {}

    @ConditionalOnMissingBean(
        type = "org.springframework.cloud.client.serviceregistry.Registration")
    @ConditionalOnProperty(
        prefix = "punctual",
        name = "registration",
        havingValue = "scheduler",
        matchIfMissing = true)
    static class NothingRegisters {}
  }
}
