package io.punctual.server.registry;

import java.util.Collection;
import java.util.List;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;

/**
 * What the discovery client's own cached view has.
 *
 * @param name of the registry
 */
public record RegistrySource(String name, DiscoveryClient discovery) implements InstanceSource {

  @Override
  public Collection<String> applications() {
    return discovery.getServices();
  }

  @Override
  public List<ServiceInstance> instances(String application) {
    return discovery.getInstances(application);
  }
}
