package io.punctual.client.autoconfigure;

import io.punctual.JobListener;
import io.punctual.TaskSubmitService;
import io.punctual.TaskWorker;
import io.punctual.client.ClientIdentity;
import io.punctual.client.PunctualClientProperties;
import io.punctual.client.callback.JobRunner;
import io.punctual.client.pull.PullRunner;
import io.punctual.client.submit.HttpTaskSubmitService;
import io.punctual.client.submit.SchedulerCalls;
import io.punctual.client.submit.SchedulerLocator;
import io.punctual.client.tracing.JobTracing;
import io.punctual.worker.JobListeners;
import io.punctual.worker.TaskWorkers;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/** Workers and submitting. */
@AutoConfiguration(
    afterName =
        "org.springframework.cloud.client.discovery.composite.CompositeDiscoveryClientAutoConfiguration")
@ConditionalOnProperty(prefix = "punctual.client", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(PunctualClientProperties.class)
public class PunctualClientAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  ClientIdentity punctualClientIdentity(
      PunctualClientProperties properties, Environment environment) {
    String configured = properties.application();
    return new ClientIdentity(
        configured != null ? configured : environment.getProperty("spring.application.name", ""));
  }

  @Bean
  @ConditionalOnMissingBean
  TaskWorkers punctualTaskWorkers(ListableBeanFactory beans) {
    return new TaskWorkers(beans.getBeansOfType(TaskWorker.class));
  }

  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  JobRunner punctualJobRunner(
      TaskWorkers workers,
      ObjectProvider<JobListener> listeners,
      ObjectProvider<JobTracing> tracing,
      PunctualClientProperties properties) {
    return new JobRunner(
        workers,
        new JobListeners(listeners.orderedStream().toList()),
        tracing.getIfAvailable(() -> JobTracing.NONE),
        properties.concurrency());
  }

  @Bean
  @ConditionalOnMissingBean
  SchedulerLocator punctualSchedulerLocator(
      PunctualClientProperties properties, ObjectProvider<DiscoveryClient> discovery) {
    if (!properties.url().isEmpty()) {
      List<URI> fixed = properties.url().stream().map(SchedulerAddresses::withoutSlash).toList();
      return new SchedulerLocator(() -> fixed);
    }
    return new SchedulerLocator(
        () -> {
          DiscoveryClient client = discovery.getIfAvailable();
          return client == null
              ? List.of()
              : client.getInstances(properties.serviceId()).stream()
                  .map(SchedulerAddresses::of)
                  .flatMap(Optional::stream)
                  .toList();
        });
  }

  @Bean
  @ConditionalOnMissingBean
  SchedulerCalls punctualSchedulerCalls(
      SchedulerLocator locator,
      PunctualClientProperties properties,
      ObjectProvider<SslBundles> bundles) {
    String bundle = properties.sslBundle();
    return new SchedulerCalls(
        locator,
        properties.submit(),
        properties.token(),
        bundle == null ? null : bundles.getObject().getBundle(bundle));
  }

  @Bean
  @ConditionalOnMissingBean
  @ConditionalOnProperty(prefix = "punctual.client", name = "delivery", havingValue = "pull")
  PullRunner punctualPullRunner(
      ClientIdentity identity,
      TaskWorkers workers,
      JobRunner runner,
      SchedulerCalls calls,
      PunctualClientProperties properties) {
    return new PullRunner(
        identity,
        workers,
        runner,
        calls,
        properties.concurrency(),
        properties.pull().lease(),
        properties.shutdown().drainTimeout());
  }

  @Bean
  @ConditionalOnMissingBean(TaskSubmitService.class)
  HttpTaskSubmitService punctualTaskSubmitService(
      ClientIdentity identity, SchedulerCalls calls, ObjectProvider<JobTracing> tracing) {
    return new HttpTaskSubmitService(
        identity, calls, tracing.getIfAvailable(() -> JobTracing.NONE));
  }
}
