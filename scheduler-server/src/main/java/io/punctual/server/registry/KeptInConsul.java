package io.punctual.server.registry;

import io.punctual.internal.KeptRegistration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.consul.ConsulClient;
import org.springframework.cloud.consul.discovery.ConsulDiscoveryProperties;
import org.springframework.cloud.consul.discovery.HeartbeatProperties;
import org.springframework.cloud.consul.discovery.TtlScheduler;
import org.springframework.cloud.consul.model.http.agent.NewService;
import org.springframework.cloud.consul.model.http.health.HealthService;
import org.springframework.cloud.consul.serviceregistry.ConsulRegistration;
import org.springframework.cloud.consul.serviceregistry.ConsulServiceRegistry;
import org.springframework.util.ReflectionUtils;

/** Keeps this scheduler in Consul, whose agent may lose what it has. */
@SuppressWarnings("unchecked") // Spring Cloud\'s getStatus returns Object.
final class KeptInConsul extends ConsulServiceRegistry implements Kept {

  private static final Logger log = LoggerFactory.getLogger(KeptInConsul.class);

  private final ConsulClient client;
  private final ConsulDiscoveryProperties properties;
  private final @Nullable TtlScheduler heartbeats;
  private volatile @Nullable KeptRegistration kept;

  /**
   * @param client throws what Consul refuses
   */
  @SuppressWarnings("NullAway") // Spring Cloud passes null, too.
  KeptInConsul(
      ConsulClient client,
      ConsulDiscoveryProperties properties,
      @Nullable TtlScheduler heartbeats,
      HeartbeatProperties heartbeat) {
    super(client, properties, heartbeats, heartbeat);
    this.client = client;
    this.properties = properties;
    this.heartbeats = heartbeats;
  }

  @Override
  public void register(ConsulRegistration registration) {
    NewService service = registration.getService();
    KeptRegistration begun =
        new KeptRegistration(
            new KeptRegistration.Client() {
              @Override
              public void register() {
                enter(service);
              }

              @Override
              public boolean isRegistered() {
                return shows(service);
              }

              @Override
              public void deregister() {
                remove(registration);
              }
            },
            new KeptRegistration.Texts(
                "Consul", "this scheduler", "applications", "spring.cloud.consul.host"),
            log::warn,
            log::info);
    KeptRegistration before = kept;
    if (before != null) {
      before.end();
    }
    kept = begun;
    begun.start();
  }

  private void enter(NewService service) {
    client.agentServiceRegister(properties.getAclToken(), service);
    if (heartbeats != null && service.getCheck() != null && service.getCheck().getTtl() != null) {
      heartbeats.add(service);
    }
  }

  // Whether it passes its checks or not.
  @SuppressWarnings("NullAway") // No tags are asked for.
  private boolean shows(NewService service) {
    List<HealthService> shown =
        client
            .getHealthServices(
                service.getName(),
                false,
                properties.getAclToken(),
                null,
                ConsulClient.QueryParams.DEFAULT)
            .getBody();
    return shown != null
        && shown.stream().anyMatch(entry -> entry.getService().getId().equals(service.getId()));
  }

  private void remove(ConsulRegistration registration) {
    super.deregister(registration);
  }

  @Override
  public String registry() {
    return "Consul";
  }

  @Override
  public void leave() throws Exception {
    KeptRegistration ended = kept;
    kept = null;
    if (ended != null) {
      ended.stop();
    }
  }

  @Override
  public void deregister(ConsulRegistration registration) {
    try {
      leave();
    } catch (Exception e) {
      ReflectionUtils.rethrowRuntimeException(e);
    }
  }
}
