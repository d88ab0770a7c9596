package io.punctual.server.registry;

import io.punctual.wire.RegistryAddresses;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.discovery.event.HeartbeatEvent;
import org.springframework.cloud.client.serviceregistry.Registration;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/** How old the view of the registry is, and whether this scheduler is in it. */
@Component
public class RegistryContact {

  private final DiscoveryClient discovery;
  private final ObjectProvider<Registration> registration;
  private final boolean used;
  private final String addresses;
  private final long begun = System.nanoTime();
  private volatile @Nullable Long fetched;

  RegistryContact(
      DiscoveryClient discovery,
      ObjectProvider<Registration> registration,
      @Value("${eureka.client.enabled:true}") boolean used,
      @Value("${eureka.client.service-url.defaultZone:}") String addresses) {
    this.discovery = discovery;
    this.registration = registration;
    this.used = used;
    this.addresses = RegistryAddresses.of(addresses).toString();
  }

  /** The registry's client has a view of just now. */
  @EventListener(HeartbeatEvent.class)
  void onView() {
    fetched = System.nanoTime();
  }

  /** Whether there is a registry at all; else instances register here, or are configured. */
  public boolean isUsed() {
    return used;
  }

  /** Where it is, without passwords. */
  public String addresses() {
    return addresses;
  }

  /** How old the view is; null if there never was one. */
  public @Nullable Duration age() {
    Long last = fetched;
    return last == null ? null : Duration.ofNanos(System.nanoTime() - last);
  }

  /** How long there has been time for a first view. */
  public Duration waited() {
    return Duration.ofNanos(System.nanoTime() - begun);
  }

  /** Whether the registry shows this scheduler to others. */
  public boolean showsUs() {
    Registration own = registration.getIfAvailable();
    if (own == null || own.getInstanceId() == null) {
      return false;
    }
    List<ServiceInstance> schedulers = discovery.getInstances(own.getServiceId());
    return schedulers.stream().anyMatch(i -> own.getInstanceId().equals(i.getInstanceId()));
  }

  /** The address at which the registry shows this scheduler; null if it is not registered. */
  public @Nullable URI ownAddress() {
    Registration own = registration.getIfAvailable();
    return own == null ? null : own.getUri();
  }
}
