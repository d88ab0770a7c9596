package io.punctual.server.registry;

import java.util.ArrayList;
import java.util.List;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.discovery.simple.SimpleDiscoveryClient;
import org.springframework.cloud.netflix.eureka.EurekaDiscoveryClient;

/**
 * The registries of which this application has a client. No reading of them waits for a server: the
 * clients of Eureka and of properties answer from memory, and others have a {@link PolledSource}.
 *
 * @param sources all of them; what comes later counts more
 * @param polled those that are read by {@link PolledSource#refresh}
 */
public record Registries(List<InstanceSource> sources, List<PolledSource> polled) {

  /** Makes the sources of all registries that a discovery client asks. */
  public static Registries of(DiscoveryClient discovery) {
    List<InstanceSource> sources = new ArrayList<>();
    List<PolledSource> polled = new ArrayList<>();
    for (RegistrySource source : RegistrySource.of(discovery)) {
      if (answersFromMemory(source.discovery())) {
        sources.add(source);
      } else {
        PolledSource reader = new PolledSource(source);
        polled.add(reader);
        sources.add(reader);
      }
    }
    return new Registries(List.copyOf(sources), List.copyOf(polled));
  }

  private static boolean answersFromMemory(DiscoveryClient client) {
    return client instanceof EurekaDiscoveryClient || client instanceof SimpleDiscoveryClient;
  }

  /**
   * Returns the instances of an application in all registries.
   *
   * @throws RuntimeException if they cannot be read now
   */
  public List<ServiceInstance> instances(String application) {
    List<ServiceInstance> all = new ArrayList<>();
    sources.forEach(source -> all.addAll(source.instances(application)));
    return all;
  }
}
