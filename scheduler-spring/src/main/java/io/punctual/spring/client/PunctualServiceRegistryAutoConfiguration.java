package io.punctual.spring.client;

import com.alibaba.cloud.nacos.registry.NacosServiceRegistry;
import io.punctual.client.callback.CallbackHandler;
import io.punctual.client.registration.InstanceRegistration;
import io.punctual.internal.TaskWorkers;
import io.punctual.spring.client.registry.CommonDialect;
import io.punctual.spring.client.registry.ConsulDialect;
import io.punctual.spring.client.registry.ConsulServiceRegistryKeeper;
import io.punctual.spring.client.registry.NacosDialect;
import io.punctual.spring.client.registry.RegistryDialect;
import io.punctual.spring.client.registry.ServiceRegistration;
import io.punctual.spring.client.registry.ZookeeperDialect;
import io.punctual.spring.client.registry.ZookeeperServiceRegistryKeeper;
import io.punctual.wire.WorkerMetadata;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.cloud.client.serviceregistry.Registration;
import org.springframework.cloud.client.serviceregistry.ServiceRegistry;
import org.springframework.cloud.consul.ConsulClient;
import org.springframework.cloud.consul.discovery.ConsulDiscoveryProperties;
import org.springframework.cloud.consul.discovery.HeartbeatProperties;
import org.springframework.cloud.consul.discovery.TtlScheduler;
import org.springframework.cloud.consul.serviceregistry.ConsulServiceRegistry;
import org.springframework.cloud.zookeeper.discovery.ZookeeperDiscoveryProperties;
import org.springframework.cloud.zookeeper.discovery.ZookeeperInstance;
import org.springframework.cloud.zookeeper.serviceregistry.ZookeeperServiceRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;

/**
 * Writes this instance's metadata to a registry other than Eureka. Comes after the
 * auto-configuration of all registries.
 */
@AutoConfiguration(after = PunctualEurekaAutoConfiguration.class)
@AutoConfigureOrder(Ordered.LOWEST_PRECEDENCE)
@ConditionalOnClass(ServiceRegistry.class)
@ConditionalOnBean({CallbackHandler.class, WorkerMetadata.class, Registration.class})
@ConditionalOnSingleCandidate(ServiceRegistry.class)
@ConditionalOnProperty(
    prefix = "punctual",
    name = "registration",
    havingValue = "registry",
    matchIfMissing = true)
public class PunctualServiceRegistryAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean(InstanceRegistration.class)
  ServiceRegistration punctualServiceRegistration(
      ServiceRegistry<?> registry,
      ObjectProvider<RegistryDialect> dialect,
      WorkerMetadata metadata,
      TaskWorkers workers) {
    return new ServiceRegistration(
        registry,
        dialect.getIfAvailable(() -> new CommonDialect(ServiceRegistration.name(registry))),
        () -> metadata.withTaskTypes(workers.types()));
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(ZookeeperDiscoveryProperties.class)
  @ConditionalOnBean(ZookeeperDiscoveryProperties.class)
  static class Zookeeper {

    @Bean
    RegistryDialect punctualZookeeperDialect(ZookeeperDiscoveryProperties properties) {
      return new ZookeeperDialect(properties);
    }

    @Bean
    static BeanPostProcessor punctualZookeeperServiceRegistry(
        ObjectProvider<ServiceDiscovery<ZookeeperInstance>> discovery) {
      return new BeanPostProcessor() {
        @Override
        public Object postProcessAfterInitialization(Object bean, String name) {
          return bean instanceof ZookeeperServiceRegistry
              ? new ZookeeperServiceRegistryKeeper(discovery.getObject())
              : bean;
        }
      };
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(ConsulServiceRegistry.class)
  @ConditionalOnBean(ConsulServiceRegistry.class)
  static class Consul {

    @Bean
    RegistryDialect punctualConsulDialect() {
      return new ConsulDialect();
    }

    @Bean
    static BeanPostProcessor punctualConsulServiceRegistry(
        ObjectProvider<ConsulClient> client,
        ObjectProvider<ConsulDiscoveryProperties> properties,
        ObjectProvider<TtlScheduler> heartbeats,
        ObjectProvider<HeartbeatProperties> heartbeat) {
      return new BeanPostProcessor() {
        @Override
        public Object postProcessAfterInitialization(Object bean, String name) {
          return bean instanceof ConsulServiceRegistry
              ? new ConsulServiceRegistryKeeper(
                  client.getObject(),
                  properties.getObject(),
                  heartbeats.getIfAvailable(),
                  heartbeat.getObject())
              : bean;
        }
      };
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(NacosServiceRegistry.class)
  @ConditionalOnBean(NacosServiceRegistry.class)
  static class Nacos {

    @Bean
    RegistryDialect punctualNacosDialect() {
      return new NacosDialect();
    }
  }
}
