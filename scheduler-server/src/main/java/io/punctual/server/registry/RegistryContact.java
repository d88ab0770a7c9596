package io.punctual.server.registry;

import io.punctual.wire.RegistryAddresses;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.event.HeartbeatEvent;
import org.springframework.cloud.client.serviceregistry.Registration;
import org.springframework.cloud.netflix.eureka.CloudEurekaClient;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/** The age of the views of the registries, and whether this scheduler is registered in one. */
@Component
public class RegistryContact {

  /** Where a registry that is polled is, and the setting that says so. */
  private record Polled(String addresses, String setting) {}

  private final Registries registries;
  private final ObjectProvider<Registration> registrations;
  private final boolean eureka;
  private final String eurekaAddresses;
  private final Map<String, Polled> polled;
  private final long begun = System.nanoTime();
  private volatile @Nullable Long fetched;

  /**
   * The view of a registry.
   *
   * @param addresses of the registry, without passwords; its name where they are not known
   * @param setting says where the scheduler's configuration has them
   * @param age null if there is no view yet
   * @param waited how long there has been time for one
   */
  public record View(String addresses, String setting, @Nullable Duration age, Duration waited) {

    /** How old the view is, or how long there was none. */
    public Duration silence() {
      return Objects.requireNonNullElse(age, waited);
    }
  }

  RegistryContact(
      Registries registries,
      ObjectProvider<Registration> registrations,
      @Value("${eureka.client.enabled:true}") boolean eureka,
      @Value("${eureka.client.service-url.defaultZone:}") String eurekaAddresses,
      @Value("${spring.cloud.zookeeper.connect-string:}") String zookeeper,
      @Value("${spring.cloud.consul.host:}:${spring.cloud.consul.port:}") String consul,
      @Value("${spring.cloud.nacos.discovery.server-addr:}") String nacos) {
    this.registries = registries;
    this.registrations = registrations;
    this.eureka = eureka;
    this.eurekaAddresses = RegistryAddresses.of(eurekaAddresses).toString();
    this.polled =
        Map.of(
            "zookeeper",
            new Polled(
                "ZooKeeper " + zookeeper, "spring.cloud.zookeeper.connect-string (ZOOKEEPER_URL)"),
            "consul",
            new Polled("Consul " + consul, "spring.cloud.consul.host (CONSUL_HOST)"),
            "nacos",
            new Polled(
                "Nacos " + nacos, "spring.cloud.nacos.discovery.server-addr (NACOS_SERVER)"));
  }

  /** Notes when Eureka's client last fetched its view. Other clients do not report each fetch. */
  @EventListener(HeartbeatEvent.class)
  void onView(HeartbeatEvent event) {
    if (event.getSource() instanceof CloudEurekaClient) {
      fetched = System.nanoTime();
    }
  }

  /** The views of all registries; none where instances register here, or are configured. */
  public List<View> views() {
    Duration waited = Duration.ofNanos(System.nanoTime() - begun);
    List<View> views = new ArrayList<>();
    if (eureka) {
      Long last = fetched;
      views.add(
          new View(
              eurekaAddresses,
              "eureka.client.service-url.defaultZone (EUREKA_URL)",
              last == null ? null : Duration.ofNanos(System.nanoTime() - last),
              waited));
    }
    for (PolledSource source : registries.polled()) {
      String name = source.name();
      Polled known = polled.getOrDefault(name, new Polled(name, "the address of " + name));
      views.add(new View(known.addresses(), known.setting(), source.age(), waited));
    }
    return views;
  }

  /** Whether a registry shows this scheduler to others. */
  public boolean showsUs() {
    return ownAddress() != null;
  }

  /** The address at which a registry shows this scheduler; null if none does. */
  public @Nullable URI ownAddress() {
    return registrations.stream()
        .filter(own -> own.getServiceId() != null && own.getUri() != null)
        .filter(
            own -> registries.instances(own.getServiceId()).stream().anyMatch(i -> isSame(own, i)))
        .map(Registration::getUri)
        .findFirst()
        .orElse(null);
  }

  // Not every registration says its id.
  private static boolean isSame(Registration own, ServiceInstance shown) {
    return own.getInstanceId() == null
        ? own.getUri().equals(shown.getUri())
        : own.getInstanceId().equals(shown.getInstanceId());
  }
}
