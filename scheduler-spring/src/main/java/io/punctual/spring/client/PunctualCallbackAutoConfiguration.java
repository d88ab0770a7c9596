package io.punctual.spring.client;

import io.punctual.client.ClientIdentity;
import io.punctual.client.callback.CallbackGuard;
import io.punctual.client.callback.CallbackHandler;
import io.punctual.client.json.Json;
import io.punctual.client.registration.InstanceRegistration;
import io.punctual.client.run.JobRunner;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.internal.TaskWorkers;
import io.punctual.spring.autoconfigure.PunctualProperties;
import io.punctual.spring.client.reactive.ReactiveCallback;
import io.punctual.spring.client.servlet.ServletCallback;
import io.punctual.spring.client.servlet.TomcatDrop;
import io.punctual.spring.client.servlet.TomcatForwarded;
import io.punctual.wire.WorkerMetadata;
import java.time.InstantSource;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.catalina.Valve;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.security.config.annotation.web.configuration.WebSecurityCustomizer;
import org.springframework.web.servlet.handler.SimpleUrlHandlerMapping;

/** The path that schedulers call. */
@AutoConfiguration(after = PunctualClientAutoConfiguration.class)
@ConditionalOnBean(JobRunner.class)
@ConditionalOnProperty(
    prefix = "punctual",
    name = "delivery",
    havingValue = "push",
    matchIfMissing = true)
@ConditionalOnWebApplication
public class PunctualCallbackAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  CallbackHandler punctualCallbackHandler(
      ClientIdentity identity,
      JobRunner runner,
      SchedulerCalls calls,
      Json json,
      PunctualProperties properties,
      ObjectProvider<InstanceRegistration> registration) {
    CallbackGuard guard =
        new CallbackGuard(
            properties.callback().keys(),
            properties.callback().acceptUnsigned(),
            InstantSource.system());
    return new CallbackHandler(
        identity,
        runner,
        calls,
        json,
        guard,
        () -> {
          InstanceRegistration own = registration.getIfAvailable();
          return own == null ? null : own.advertised();
        });
  }

  /** What schedulers are told. */
  private static WorkerMetadata metadata(
      ClientIdentity identity, TaskWorkers workers, PunctualProperties properties, String path) {
    return new WorkerMetadata(
        workers.types(), path, WorkerMetadata.BATCH, properties.concurrency(), identity.release());
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
  static class Reactive {

    @Bean
    ReactiveCallback punctualReactiveCallback(
        CallbackHandler handler, PunctualProperties properties, ApplicationContext context) {
      return new ReactiveCallback(handler, properties.callback().path(), context);
    }

    @Bean
    WorkerMetadata punctualWorkerMetadata(
        ClientIdentity identity,
        TaskWorkers workers,
        PunctualProperties properties,
        Environment environment) {
      String path = CallbackPath.ofReactive(environment, properties.callback().path());
      return metadata(identity, workers, properties, path);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
  static class Servlet {

    /** Before all other mappings, so that no catch-all of the application takes the path. */
    @Bean
    SimpleUrlHandlerMapping punctualCallbackMapping(
        CallbackHandler handler, PunctualProperties properties) {
      return new SimpleUrlHandlerMapping(
          Map.of(properties.callback().path(), new ServletCallback(handler)),
          Ordered.HIGHEST_PRECEDENCE);
    }

    @Bean
    WorkerMetadata punctualWorkerMetadata(
        ClientIdentity identity,
        TaskWorkers workers,
        PunctualProperties properties,
        Environment environment) {
      String path = CallbackPath.ofServlet(environment, properties.callback().path());
      return metadata(identity, workers, properties, path);
    }
  }

  /**
   * Keeps the application's own security off the callback's path: no login page, no CSRF token, no
   * session. A filter chain bean would do that too, but it would also switch off the chain that
   * Spring Boot gives to applications that define none, and so open everything else.
   */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
  @ConditionalOnClass(WebSecurityCustomizer.class)
  static class Security {

    @Bean
    WebSecurityCustomizer punctualCallbackSecurity(PunctualProperties properties) {
      return web -> web.ignoring().requestMatchers(properties.callback().path());
    }
  }

  /** Ends connections on which a callback comes too slowly. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
  // In Spring Boot 3.5, the factory is there without Tomcat.
  @ConditionalOnClass({ConfigurableTomcatWebServerFactory.class, Valve.class})
  static class Tomcat {

    @Bean
    static TomcatValve punctualTomcatDrop(Environment environment) {
      String path = CallbackPath.ofServlet(environment, path(environment));
      return new TomcatValve(() -> new TomcatDrop(path));
    }

    @Bean
    static TomcatValve punctualTomcatForwarded(Environment environment) {
      String path = CallbackPath.ofServlet(environment, path(environment));
      return new TomcatValve(() -> new TomcatForwarded(path));
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
  // In Spring Boot 3.5, the factory is there without Tomcat.
  @ConditionalOnClass({ConfigurableTomcatWebServerFactory.class, Valve.class})
  static class ReactiveTomcat {

    @Bean
    static TomcatValve punctualTomcatForwarded(Environment environment) {
      String path = CallbackPath.ofReactive(environment, path(environment));
      return new TomcatValve(() -> new TomcatForwarded(path));
    }
  }

  /** Before the properties are bound: the server is made early. */
  private static String path(Environment environment) {
    return environment.getProperty("punctual.callback.path", WorkerMetadata.DEFAULT_CALLBACK_PATH);
  }

  /** Puts a valve before that of Spring Boot, which removes the headers of proxies. */
  record TomcatValve(Supplier<Valve> valve)
      implements WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory>, Ordered {

    @Override
    public void customize(ConfigurableTomcatWebServerFactory factory) {
      factory.addEngineValves(valve.get());
    }

    @Override
    public int getOrder() {
      // Spring Boot's own customizer has 0.
      return -1;
    }
  }
}
