package io.punctual.spring.client;

import com.netflix.discovery.EurekaClient;
import io.punctual.client.ClientIdentity;
import io.punctual.client.Workers;
import io.punctual.client.doctor.SchedulerWatch;
import io.punctual.client.json.Jackson3Json;
import io.punctual.client.json.Json;
import io.punctual.client.pull.PullRunner;
import io.punctual.client.run.JobRunner;
import io.punctual.client.submit.HttpJobScheduler;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.client.submit.SchedulerLocator;
import io.punctual.client.submit.SchedulerSource;
import io.punctual.internal.AttemptObservations;
import io.punctual.internal.JobListeners;
import io.punctual.internal.OneLine;
import io.punctual.internal.TaskWorkers;
import io.punctual.internal.WorkerSetupException;
import io.punctual.spi.JobListener;
import io.punctual.spi.JobScheduler;
import io.punctual.spring.AnnotatedWorkers;
import io.punctual.spring.JobApplication;
import io.punctual.spring.autoconfigure.PunctualProperties;
import io.punctual.spring.autoconfigure.SharedConfiguration;
import io.punctual.spring.client.registry.EurekaAnswers;
import io.punctual.spring.client.registry.RegistryAddress;
import io.punctual.spring.client.registry.RegistryAnswers;
import io.punctual.spring.client.registry.RegistrySchedulers;
import io.punctual.wire.WorkerMetadata;
import java.net.http.HttpClient;
import java.util.Locale;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/** Service mode: what runs jobs of schedulers, and submits jobs to them. */
@AutoConfiguration(
    afterName =
        "org.springframework.cloud.client.discovery.composite.CompositeDiscoveryClientAutoConfiguration")
@ConditionalOnProperty(prefix = "punctual", name = "enabled", matchIfMissing = true)
@Import(SharedConfiguration.class)
public class PunctualClientAutoConfiguration {

  private static final Logger log = LoggerFactory.getLogger(PunctualClientAutoConfiguration.class);

  @Bean
  @ConditionalOnMissingBean
  ClientIdentity punctualClientIdentity(PunctualProperties properties, Environment environment) {
    return new ClientIdentity(properties.applicationName(environment), release(environment));
  }

  /** As Spring Boot has it of the application; a version that is no release stops no start. */
  private static @Nullable String release(Environment environment) {
    String version = environment.getProperty("spring.application.version", "");
    if (version.isEmpty() || WorkerMetadata.isRelease(version)) {
      return version.isEmpty() ? null : version;
    }
    log.warn(
        "Punctual: spring.application.version {}, but was '{}'. Schedulers show no release of this"
            + " instance. Correct it, or the version in the application's manifest.",
        WorkerMetadata.RELEASE_RULE,
        OneLine.of(version, WorkerMetadata.MAX_RELEASE));
    return null;
  }

  @Bean
  @ConditionalOnMissingBean
  JobApplication punctualJobApplication(ClientIdentity identity) {
    return new JobApplication(identity.application());
  }

  @Bean
  @ConditionalOnMissingBean
  Workers punctualWorkers(TaskWorkers workers) {
    return new Workers(workers);
  }

  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  JobRunner punctualJobRunner(
      TaskWorkers workers,
      ObjectProvider<JobListener> listeners,
      ObjectProvider<AttemptObservations> observations,
      PunctualProperties properties,
      AnnotatedWorkers annotated) {
    return new JobRunner(
        workers,
        new JobListeners(listeners.orderedStream().toList()),
        observations.getIfAvailable(() -> AttemptObservations.NONE),
        properties.delivery().name().toLowerCase(Locale.ROOT),
        properties.concurrency(),
        type -> properties.concurrency(type, annotated));
  }

  @Bean
  @ConditionalOnMissingBean(PunctualConnectionDetails.class)
  PropertiesConnectionDetails punctualConnectionDetails(PunctualProperties properties) {
    return new PropertiesConnectionDetails(properties);
  }

  @Bean
  @ConditionalOnMissingBean
  SchedulerSource punctualSchedulerSource(PunctualConnectionDetails connection) {
    if (connection.getUrls().isEmpty()) {
      throw new WorkerSetupException(
          "It is not known where schedulers are: there is no registry's client on the class path,"
              + " and punctual.url is not set.",
          "Set punctual.url to the address of a scheduler, or add"
              + " spring-cloud-starter-netflix-eureka-client.");
    }
    return SchedulerSource.of(connection.getUrls());
  }

  /** Before the bean of the same type for applications that know no registry. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(DiscoveryClient.class)
  static class Registry {

    @Bean
    @ConditionalOnMissingBean
    SchedulerSource punctualRegistrySchedulers(
        PunctualConnectionDetails connection,
        PunctualProperties properties,
        ObjectProvider<DiscoveryClient> discovery,
        ObjectProvider<RegistryAnswers> answers,
        Environment environment) {
      return connection.getUrls().isEmpty()
          ? new RegistrySchedulers(
              discovery, properties.serviceId(), RegistryAddress.of(environment), answers)
          : SchedulerSource.of(connection.getUrls());
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(EurekaClient.class)
  static class Eureka {

    @Bean
    RegistryAnswers punctualRegistryAnswers(ObjectProvider<EurekaClient> client) {
      return new EurekaAnswers(client);
    }
  }

  @Bean
  @ConditionalOnMissingBean
  SchedulerLocator punctualSchedulerLocator(SchedulerSource source) {
    return new SchedulerLocator(source);
  }

  @Bean
  @ConditionalOnMissingBean
  Json punctualJson() {
    return new Jackson3Json();
  }

  @Bean
  @ConditionalOnMissingBean
  SchedulerCalls punctualSchedulerCalls(
      SchedulerLocator locator,
      Json json,
      PunctualConnectionDetails connection,
      PunctualProperties properties,
      ObjectProvider<SslBundles> bundles,
      ObjectProvider<SchedulerClientCustomizer> customizers) {
    String token = connection.getToken();
    String bundle = properties.sslBundle();
    return new SchedulerCalls(
        locator,
        json,
        properties.submitTimeout(),
        token == null ? properties.token() : token,
        client -> {
          if (bundle != null) {
            secure(client, bundles.getObject().getBundle(bundle));
          }
          customizers.orderedStream().forEach(customizer -> customizer.customize(client));
        });
  }

  private static void secure(HttpClient.Builder client, SslBundle bundle) {
    SSLContext context = bundle.createSslContext();
    SSLParameters parameters = context.getDefaultSSLParameters();
    if (bundle.getOptions().getCiphers() != null) {
      parameters.setCipherSuites(bundle.getOptions().getCiphers());
    }
    if (bundle.getOptions().getEnabledProtocols() != null) {
      parameters.setProtocols(bundle.getOptions().getEnabledProtocols());
    }
    client.sslContext(context).sslParameters(parameters);
  }

  @Bean(destroyMethod = "close")
  SchedulerWatch punctualSchedulerWatch(ClientIdentity identity, SchedulerCalls calls) {
    return new SchedulerWatch(identity, calls);
  }

  @Bean
  ApplicationListener<ApplicationReadyEvent> punctualSchedulerWatchStart(SchedulerWatch watch) {
    return event -> watch.start();
  }

  @Bean
  @ConditionalOnMissingBean
  @ConditionalOnProperty(prefix = "punctual", name = "delivery", havingValue = "pull")
  PullRunner punctualPullRunner(
      ClientIdentity identity,
      TaskWorkers workers,
      JobRunner runner,
      SchedulerCalls calls,
      PunctualProperties properties,
      AnnotatedWorkers annotated) {
    return new PullRunner(
        identity,
        workers,
        runner,
        calls,
        properties.concurrency(),
        type -> properties.concurrency(type, annotated),
        PullRunner.LEASE,
        properties.shutdownPatience());
  }

  @Bean
  @ConditionalOnBean(PullRunner.class)
  PullLifecycle punctualPullLifecycle(PullRunner runner) {
    return new PullLifecycle(runner);
  }

  @Bean
  @ConditionalOnMissingBean(JobScheduler.class)
  HttpJobScheduler punctualJobScheduler(ClientIdentity identity, SchedulerCalls calls) {
    return new HttpJobScheduler(identity, calls);
  }
}
