package io.punctual.server.registry;

import com.netflix.appinfo.ApplicationInfoManager;
import io.punctual.core.Engine;
import io.punctual.server.text.Printable;
import io.punctual.wire.SchedulerMetadata;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.event.HeartbeatEvent;
import org.springframework.cloud.client.serviceregistry.Registration;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * Registers which Redis and which key prefix this scheduler uses, and finds schedulers in the
 * registry that use others. Applications would send jobs to either, and look for them at the other.
 */
@Component
public class Installation {

  private final Engine engine;
  private final String prefix;
  private final Registries registries;
  private final ObjectProvider<Registration> registrations;
  private final ObjectProvider<ApplicationInfoManager> eureka;
  private volatile @Nullable String registered;

  Installation(
      Engine engine,
      @Value("${punctual.key-prefix:punctual}") String prefix,
      Registries registries,
      ObjectProvider<Registration> registrations,
      ObjectProvider<ApplicationInfoManager> eureka) {
    this.engine = engine;
    this.prefix = prefix;
    this.registries = registries;
    this.registrations = registrations;
    this.eureka = eureka;
  }

  /** Redis's mark is not known before the registration. */
  @EventListener(HeartbeatEvent.class)
  void register() {
    String mark = engine.storeHealth().mark();
    String now = mark == null ? null : prefix + "@" + mark;
    ApplicationInfoManager own = eureka.getIfAvailable();
    if (now != null && own != null && !now.equals(registered)) {
      own.registerAppMetadata(Map.of(SchedulerMetadata.INSTALLATION, now));
      registered = now;
    }
  }

  /** The schedulers of other installations that the registry shows: address and key prefix. */
  public List<String> others() {
    String mine = registered;
    return mine == null
        ? List.of()
        : registrations.stream()
            .map(Registration::getServiceId)
            .filter(Objects::nonNull)
            .distinct()
            .flatMap(name -> registries.instances(name).stream())
            .flatMap(scheduler -> other(mine, scheduler).stream())
            .toList();
  }

  private static Optional<String> other(String mine, ServiceInstance scheduler) {
    Map<String, String> metadata = scheduler.getMetadata();
    String its = metadata == null ? null : metadata.get(SchedulerMetadata.INSTALLATION);
    if (its == null || its.equals(mine)) {
      return Optional.empty();
    }
    String prefix = its.replaceFirst("@[^@]*$", "");
    return Optional.of(scheduler.getUri() + " (key prefix " + Printable.of(prefix) + ")");
  }
}
