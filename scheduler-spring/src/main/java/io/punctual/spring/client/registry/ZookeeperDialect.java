package io.punctual.spring.client.registry;

import java.util.Map;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.serviceregistry.Registration;
import org.springframework.cloud.zookeeper.discovery.ZookeeperDiscoveryProperties;
import org.springframework.cloud.zookeeper.discovery.ZookeeperServiceInstance;
import org.springframework.cloud.zookeeper.serviceregistry.ZookeeperRegistration;

/**
 * ZooKeeper's client: a registration shows neither metadata before it is made nor its id, but it
 * registers the metadata of the properties.
 */
public final class ZookeeperDialect implements RegistryDialect {

  private final ZookeeperDiscoveryProperties properties;

  /** Adds entries to the metadata of these properties. */
  public ZookeeperDialect(ZookeeperDiscoveryProperties properties) {
    this.properties = properties;
  }

  @Override
  public Map<String, String> metadata(Registration registration) {
    return properties.getMetadata();
  }

  @Override
  public ServiceInstance shown(Registration registration) {
    return registration instanceof ZookeeperRegistration own
        ? new ZookeeperServiceInstance(own.getServiceId(), own.getServiceInstance())
        : registration;
  }

  @Override
  public String remedy() {
    return "spring.cloud.zookeeper.connect-string and spring.cloud.zookeeper.discovery.root must be"
        + " the same here and at the schedulers. The schedulers need"
        + " spring.cloud.zookeeper.enabled=true. Here"
        + " spring.cloud.zookeeper.discovery.register must not be false.";
  }
}
