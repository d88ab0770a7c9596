package io.punctual.server.registry;

import io.punctual.server.text.Printable;
import io.punctual.server.text.PrintableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.core.NestedExceptionUtils;

/**
 * A registry whose client asks it at each call. One thread reads all of it; all others get the last
 * answer and never wait. An application that cannot be read keeps its last instances.
 */
public final class PolledSource implements InstanceSource {

  private static final Logger log = LoggerFactory.getLogger(PolledSource.class);

  private final InstanceSource registry;
  // By name in lower case: clients of registries differ in that.
  private volatile Map<String, Application> known = Map.of();
  private volatile @Nullable Long read;
  private boolean failing;

  private record Application(String name, List<ServiceInstance> instances) {}

  /** Knows nothing before the first {@link #refresh}. */
  public PolledSource(InstanceSource registry) {
    this.registry = registry;
  }

  @Override
  public String name() {
    return registry.name();
  }

  @Override
  public Collection<String> applications() {
    return known.values().stream().map(Application::name).toList();
  }

  @Override
  public List<ServiceInstance> instances(String application) {
    Application found = known.get(application.toLowerCase(Locale.ROOT));
    return found == null ? List.of() : found.instances();
  }

  /** Returns how old the view is; null if there is none yet. */
  public @Nullable Duration age() {
    Long last = read;
    return last == null ? null : Duration.ofNanos(System.nanoTime() - last);
  }

  /** Reads all of the registry, on the caller's thread, for as long as that takes. */
  public synchronized void refresh() {
    long begun = System.nanoTime();
    Map<String, Application> before = known;
    Map<String, Application> now = new LinkedHashMap<>();
    String failure = null;
    try {
      Collection<String> names = registry.applications();
      if (names.isEmpty() && read == null && name().equals("nacos")) {
        // Its client swallows failures. One that answers lists at least this scheduler.
        throw new IllegalStateException("it lists no application yet");
      }
      for (String name : names) {
        String key = name.toLowerCase(Locale.ROOT);
        List<? extends ServiceInstance> found;
        try {
          found = registry.instances(name);
        } catch (Throwable e) {
          // Also an Error: one application must not hide the others.
          failure = Printable.of(name) + ": " + reason(e);
          Application last = before.get(key);
          found = last == null || !last.name().equals(name) ? List.of() : last.instances();
        }
        now.merge(key, new Application(name, List.copyOf(found)), PolledSource::both);
      }
      known = now;
      read = begun;
    } catch (Throwable e) {
      failure = reason(e);
    }
    tell(failure);
  }

  // Clients wrap what they may not throw.
  private static String reason(Throwable e) {
    return PrintableException.text(NestedExceptionUtils.getMostSpecificCause(e));
  }

  private static Application both(Application one, Application other) {
    List<ServiceInstance> instances = new ArrayList<>(one.instances());
    instances.addAll(other.instances());
    return new Application(one.name(), instances);
  }

  private void tell(@Nullable String failure) {
    if (failure != null && !failing) {
      log.warn(
          "Registry {} could not be read: {}. The instances that were known last stay known.",
          name(),
          failure);
    } else if (failure == null && failing) {
      log.info("Registry {} is read again", name());
    }
    failing = failure != null;
  }
}
