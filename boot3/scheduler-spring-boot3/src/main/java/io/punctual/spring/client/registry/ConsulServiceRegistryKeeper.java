package io.punctual.spring.client.registry;

import com.ecwid.consul.v1.ConsulClient;
import com.ecwid.consul.v1.QueryParams;
import com.ecwid.consul.v1.agent.model.NewService;
import com.ecwid.consul.v1.health.HealthServicesRequest;
import com.ecwid.consul.v1.health.model.HealthService;
import io.punctual.internal.KeptRegistration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.consul.discovery.ConsulDiscoveryProperties;
import org.springframework.cloud.consul.discovery.HeartbeatProperties;
import org.springframework.cloud.consul.discovery.TtlScheduler;
import org.springframework.cloud.consul.serviceregistry.ConsulRegistration;
import org.springframework.cloud.consul.serviceregistry.ConsulServiceRegistry;
import org.springframework.util.ReflectionUtils;

/**
 * Keeps this instance registered in Consul. An agent may lose its registrations, or refuse one;
 * Spring Cloud's client notices neither.
 */
@SuppressWarnings("unchecked") // Spring Cloud's getStatus returns Object.
public final class ConsulServiceRegistryKeeper extends ConsulServiceRegistry
    implements KeptRegistry {

  private static final Logger log = LoggerFactory.getLogger(ConsulServiceRegistryKeeper.class);

  private final ConsulClient client;
  private final ConsulDiscoveryProperties properties;
  private final @Nullable TtlScheduler heartbeats;
  private final HeartbeatProperties heartbeat;
  // An instance with a management port may have two.
  private final Map<String, KeptRegistration> kept = new ConcurrentHashMap<>();

  /** Takes the place of Spring Cloud's own, which ends the start if Consul is away. */
  @SuppressWarnings("NullAway") // Spring Cloud passes null, too.
  public ConsulServiceRegistryKeeper(
      ConsulClient client,
      ConsulDiscoveryProperties properties,
      @Nullable TtlScheduler heartbeats,
      HeartbeatProperties heartbeat) {
    super(client, properties, heartbeats, heartbeat);
    this.client = client;
    this.properties = properties;
    this.heartbeats = heartbeats;
    this.heartbeat = heartbeat;
  }

  @Override
  public void register(ConsulRegistration registration) {
    KeptRegistration begun =
        new KeptRegistration(
            new KeptRegistration.Client() {
              @Override
              public void register() {
                enter(registration.getService());
              }

              @Override
              public boolean isRegistered() {
                return shows(registration.getService());
              }

              @Override
              public void deregister() {
                leave(registration);
              }
            },
            new KeptRegistration.Texts(
                "Consul", "this instance", "schedulers", "spring.cloud.consul.host"),
            text -> log.warn("Punctual: {}", text),
            text -> log.info("Punctual: {}", text));
    KeptRegistration before = kept.put(registration.getInstanceId(), begun);
    if (before != null) {
      before.end();
    }
    begun.start();
  }

  private void enter(NewService service) {
    client.agentServiceRegister(service, properties.getAclToken());
    NewService.Check check = service.getCheck();
    if (heartbeats != null && heartbeat.isEnabled() && check != null && check.getTtl() != null) {
      heartbeats.add(service);
    }
  }

  // Whether it passes its checks or not.
  private boolean shows(NewService service) {
    List<HealthService> shown =
        client
            .getHealthServices(
                service.getName(),
                HealthServicesRequest.newBuilder()
                    .setPassing(false)
                    .setQueryParams(QueryParams.DEFAULT)
                    .setToken(properties.getAclToken())
                    .build())
            .getValue();
    return shown != null
        && shown.stream().anyMatch(entry -> entry.getService().getId().equals(service.getId()));
  }

  private void leave(ConsulRegistration registration) {
    super.deregister(registration);
  }

  @Override
  public void deregister(ConsulRegistration registration) {
    KeptRegistration ended = kept.remove(registration.getInstanceId());
    if (ended != null) {
      try {
        ended.stop();
      } catch (Exception e) {
        ReflectionUtils.rethrowRuntimeException(e);
      }
    }
  }

  @Override
  public @Nullable String problem() {
    for (KeptRegistration registration : kept.values()) {
      String problem = registration.problem();
      if (problem != null) {
        return problem;
      }
    }
    return null;
  }
}
