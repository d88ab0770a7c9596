package io.punctual.server.registry;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.http.client.ClientHttpRequestFactoryBuilder;
import org.springframework.boot.http.client.HttpClientSettings;
import org.springframework.cloud.client.serviceregistry.AutoServiceRegistration;
import org.springframework.cloud.client.serviceregistry.Registration;
import org.springframework.cloud.client.serviceregistry.ServiceRegistry;
import org.springframework.cloud.consul.ConsulAutoConfiguration;
import org.springframework.cloud.consul.ConsulClient;
import org.springframework.cloud.consul.ConsulProperties;
import org.springframework.cloud.consul.discovery.ConsulDiscoveryProperties;
import org.springframework.cloud.consul.discovery.HeartbeatProperties;
import org.springframework.cloud.consul.discovery.TtlScheduler;
import org.springframework.cloud.consul.serviceregistry.ConsulServiceRegistry;
import org.springframework.cloud.zookeeper.discovery.ZookeeperInstance;
import org.springframework.cloud.zookeeper.serviceregistry.ZookeeperServiceRegistry;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.support.RestClientAdapter;
import org.springframework.web.util.DefaultUriBuilderFactory;

/** Registers this scheduler in several registries, even if one is away at its start. */
@Configuration(proxyBeanMethods = false)
class RegistrationConfiguration {

  private static final Logger log = LoggerFactory.getLogger(RegistrationConfiguration.class);

  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final Duration CONNECT = Duration.ofSeconds(1);
  private static final Duration READ = Duration.ofSeconds(3);

  /** Where Spring Cloud asks for one of several, it gets Eureka's; all of them register. */
  @Bean
  static BeanFactoryPostProcessor severalRegistrations() {
    return beans ->
        List.of(AutoServiceRegistration.class, Registration.class, ServiceRegistry.class)
            .forEach(type -> chooseOne(beans, type));
  }

  private static void chooseOne(ConfigurableListableBeanFactory beans, Class<?> type) {
    List<BeanDefinition> candidates =
        Stream.of(beans.getBeanNamesForType(type, true, false))
            .filter(beans::containsBeanDefinition)
            .sorted(
                Comparator.<String, Boolean>comparing(name -> !name.startsWith("eureka"))
                    .thenComparing(Comparator.naturalOrder()))
            .map(beans::getBeanDefinition)
            .filter(BeanDefinition::isAutowireCandidate)
            .toList();
    if (candidates.size() > 1 && candidates.stream().noneMatch(BeanDefinition::isPrimary)) {
      candidates.getFirst().setPrimary(true);
    }
  }

  /** In place of Spring Cloud's. */
  @Bean
  @ConditionalOnBooleanProperty("spring.cloud.zookeeper.enabled")
  ZookeeperEntries zookeeperEntries() {
    return new ZookeeperEntries();
  }

  @Bean
  static BeanPostProcessor keptInZookeeper(
      ObjectProvider<ServiceDiscovery<ZookeeperInstance>> discovery) {
    return new BeanPostProcessor() {
      @Override
      public Object postProcessAfterInitialization(Object bean, String name) {
        return bean instanceof ZookeeperServiceRegistry
            ? new KeptInZookeeper(discovery.getObject())
            : bean;
      }
    };
  }

  @Bean
  static BeanPostProcessor keptInConsul(
      ObjectProvider<ConsulClient> client,
      ObjectProvider<ConsulDiscoveryProperties> properties,
      ObjectProvider<TtlScheduler> heartbeats,
      ObjectProvider<HeartbeatProperties> heartbeat) {
    return new BeanPostProcessor() {
      @Override
      public Object postProcessAfterInitialization(Object bean, String name) {
        return bean instanceof ConsulServiceRegistry
            ? new KeptInConsul(
                client.getObject(),
                properties.getObject(),
                heartbeats.getIfAvailable(),
                heartbeat.getObject())
            : bean;
      }
    };
  }

  /**
   * In place of Spring Cloud's, which waits for an agent without an end, and takes a refusal for a
   * success.
   */
  @Bean
  @ConditionalOnBooleanProperty("spring.cloud.consul.enabled")
  ConsulClient consulClient(ConsulProperties properties) {
    String url = ConsulAutoConfiguration.createConsulClientBaseUrl(properties);
    HttpClientSettings tls =
        ConsulAutoConfiguration.createConsulClientSettings(url, properties.getTls())
            .httpClientSettings();
    HttpClientSettings settings = tls == null ? HttpClientSettings.defaults() : tls;
    DefaultUriBuilderFactory uris = new DefaultUriBuilderFactory(url);
    uris.setEncodingMode(DefaultUriBuilderFactory.EncodingMode.NONE);
    return ConsulAutoConfiguration.createNewConsulClient(
        RestClientAdapter.create(
            RestClient.builder()
                .uriBuilderFactory(uris)
                .requestFactory(
                    ClientHttpRequestFactoryBuilder.detect()
                        .build(settings.withTimeouts(CONNECT, READ)))
                .build()));
  }

  /** Leaves the registries before the scheduler drains. Spring Cloud would leave them last. */
  @Bean
  static ApplicationListener<ContextClosedEvent> leavesRegistriesFirst(
      ApplicationContext context, ObjectProvider<ServiceRegistry<?>> registries) {
    return closed -> {
      // The context of a management port tells its parent that it closes.
      if (closed.getApplicationContext() == context) {
        registries.stream()
            .filter(Kept.class::isInstance)
            .forEach(registry -> leave((Kept) registry));
      }
    };
  }

  /** A registry that stands still must not keep the scheduler from stopping. */
  private static void leave(Kept kept) {
    FutureTask<@Nullable Void> removal =
        new FutureTask<>(
            () -> {
              kept.leave();
              return null;
            });
    Thread.ofPlatform().daemon().name("deregistration").start(removal);
    try {
      removal.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      log.warn(
          "{} did not take the deregistration of this scheduler ({}), which stops anyway."
              + " Applications may find it there until its registration ends by itself.",
          kept.registry(),
          NestedExceptionUtils.getMostSpecificCause(e).toString());
    }
  }
}
