package io.punctual.server.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.cloud.client.DefaultServiceInstance;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.discovery.composite.CompositeDiscoveryClient;
import org.springframework.cloud.client.discovery.simple.InstanceProperties;
import org.springframework.cloud.client.discovery.simple.SimpleDiscoveryClient;
import org.springframework.cloud.client.discovery.simple.SimpleDiscoveryProperties;

/** A scheduler may use several registries at once. */
class RegistrySourceTest {

  private final FakeRegistry registry = new FakeRegistry();
  private final SimpleDiscoveryProperties properties = new SimpleDiscoveryProperties();
  private final CompositeDiscoveryClient both =
      new CompositeDiscoveryClient(
          new ArrayList<>(List.of(registry, new SimpleDiscoveryClient(properties))));

  private static DefaultServiceInstance instance(String id, int port) {
    return new DefaultServiceInstance(
        id, "shop", "127.0.0.1", port, false, Map.of("punctual.task-types", "t"));
  }

  private void configured(String id, int port) {
    InstanceProperties instance = new InstanceProperties();
    instance.setInstanceId(id);
    instance.setServiceId("shop");
    instance.setUri(URI.create("http://127.0.0.1:" + port));
    instance.getMetadata().put("punctual.task-types", "t");
    properties.setInstances(Map.of("shop", List.of(instance)));
  }

  private List<String> seen() {
    return new WorkerDirectory(List.copyOf(RegistrySource.of(both)), false)
        .instances("shop").stream()
            .map(found -> found.id() + " " + found.callback().getPort() + " " + found.source())
            .toList();
  }

  @Test
  void theInstancesOfAllAreSeen() {
    registry.set("shop", instance("one", 1));
    configured("two", 2);

    assertThat(seen()).containsExactlyInAnyOrder("one 1 fakeregistry", "two 2 configuration");
  }

  @Test
  void anInstanceOfTwoIsAsTheFirstHasIt() {
    registry.set("shop", instance("one", 1));
    configured("one", 2);

    assertThat(seen()).containsExactly("one 1 fakeregistry");
  }

  @Test
  void eachHasTheNameOfItsRegistry() {
    assertThat(RegistrySource.of(new ZookeeperDiscoveryClient()))
        .extracting(RegistrySource::name)
        .containsExactly("zookeeper");
    assertThat(RegistrySource.of(new KubernetesClientInformerDiscoveryClient()))
        .extracting(RegistrySource::name)
        .containsExactly("kubernetes");
  }

  private static final class ZookeeperDiscoveryClient extends NoInstances {}

  private static final class KubernetesClientInformerDiscoveryClient extends NoInstances {}

  private abstract static class NoInstances implements DiscoveryClient {

    @Override
    public String description() {
      return "of a test";
    }

    @Override
    public List<ServiceInstance> getInstances(String application) {
      return List.of();
    }

    @Override
    public List<String> getServices() {
      return List.of();
    }
  }
}
