package io.punctual.server.registry;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.discovery.composite.CompositeDiscoveryClient;
import org.springframework.cloud.client.discovery.simple.SimpleDiscoveryClient;

/**
 * The services that a discovery client sees in one registry.
 *
 * @param name of the registry
 */
public record RegistrySource(String name, DiscoveryClient discovery) implements InstanceSource {

  /** The name of the registry of properties, which is always there, mostly without instances. */
  public static final String OF_PROPERTIES = "configuration";

  /**
   * A source for each registry that the discovery client asks. Those that it asks first come last,
   * where they count more.
   */
  public static List<RegistrySource> of(DiscoveryClient discovery) {
    List<DiscoveryClient> clients =
        discovery instanceof CompositeDiscoveryClient composite
            ? composite.getDiscoveryClients()
            : List.of(discovery);
    return clients.reversed().stream()
        .map(client -> new RegistrySource(name(client), client))
        .toList();
  }

  /** The registry's own name, by which Spring Cloud's clients are called. */
  private static String name(DiscoveryClient client) {
    if (client instanceof SimpleDiscoveryClient) {
      return OF_PROPERTIES;
    }
    String type = client.getClass().getSimpleName();
    return type.replaceFirst("(Client)?((Cacheable)?Informer)?DiscoveryClient.*", "")
        .toLowerCase(Locale.ROOT);
  }

  @Override
  public Collection<String> applications() {
    return discovery.getServices();
  }

  @Override
  public List<ServiceInstance> instances(String application) {
    return discovery.getInstances(application);
  }
}
