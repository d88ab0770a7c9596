package io.punctual.server.registry;

import io.punctual.server.security.Printable;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.stereotype.Component;

/**
 * The instances of each application, read from the discovery client's own cached view. What the
 * registry says is who exists, never who is alive: that is for the dispatcher to find out.
 */
@Component
public class WorkerDirectory {

  private static final Logger log = LoggerFactory.getLogger(WorkerDirectory.class);

  private static final Pattern ID = Pattern.compile("[!-~]{1,200}");

  private final DiscoveryClient discovery;
  private final Map<String, List<WorkerInstance>> view = new ConcurrentHashMap<>();
  private final Map<String, Unusable> unusable = new ConcurrentHashMap<>();

  /**
   * An instance that gets no jobs since its metadata makes no sense.
   *
   * @param application in lower case
   * @param reason names the entry
   */
  public record Unusable(String application, String instance, String reason) {}

  WorkerDirectory(DiscoveryClient discovery) {
    this.discovery = discovery;
  }

  /** The instances of an application that take jobs of some type. */
  public List<WorkerInstance> instances(String application) {
    return view.computeIfAbsent(application, this::read);
  }

  /** The instances of an application that say that they run the task type. */
  public List<WorkerInstance> instances(String application, String taskType) {
    return instances(application).stream()
        .filter(instance -> instance.metadata().taskTypes().contains(taskType))
        .toList();
  }

  /**
   * All instances of all applications. Reads the registry's whole view; applications that were not
   * asked for by name are not kept.
   */
  public List<WorkerInstance> all() {
    List<WorkerInstance> all = new ArrayList<>();
    Set<String> applications = new TreeSet<>();
    for (String application : discovery.getServices()) {
      if (applications.add(application.toLowerCase(Locale.ROOT))) {
        all.addAll(read(application));
      }
    }
    unusable.values().removeIf(instance -> !applications.contains(instance.application()));
    return all;
  }

  /** Those that were seen and are not among the instances. */
  public List<Unusable> unusable() {
    return List.copyOf(unusable.values());
  }

  /** Reads the view again for all applications that were asked for. */
  public void refresh() {
    view.replaceAll((application, before) -> readOr(application, before));
  }

  private List<WorkerInstance> readOr(String application, List<WorkerInstance> before) {
    try {
      return read(application);
    } catch (RuntimeException e) {
      log.debug("The registry could not be read, the last view stays", e);
      return before;
    }
  }

  private List<WorkerInstance> read(String application) {
    List<WorkerInstance> instances = new ArrayList<>();
    Set<String> bad = new HashSet<>();
    String name = application.toLowerCase(Locale.ROOT);
    for (ServiceInstance instance : discovery.getInstances(application)) {
      Map<String, String> metadata = instance.getMetadata();
      // Eureka looks up by a virtual address, which is whatever an instance says: another
      // application's key must not stand for this one's.
      if (!application.equalsIgnoreCase(instance.getServiceId())) {
        continue;
      }
      if (metadata == null || !metadata.containsKey(WorkerMetadata.TASK_TYPES)) {
        continue;
      }
      String id =
          instance.getInstanceId() != null
              ? instance.getInstanceId()
              : instance.getHost() + ":" + instance.getPort();
      try {
        instances.add(worker(id, instance, metadata));
      } catch (IllegalArgumentException e) {
        bad.add(id);
        String reason = Printable.of(String.valueOf(e.getMessage()));
        Unusable now = new Unusable(name, Printable.of(id), reason);
        if (!now.equals(unusable.put(name + "/" + id, now))) {
          log.warn(
              "Instance {} of {} gets no jobs, its registry metadata makes no sense: {}",
              now.instance(),
              application,
              reason);
        }
      }
    }
    unusable
        .entrySet()
        .removeIf(
            entry ->
                entry.getValue().application().equals(name)
                    && !bad.contains(entry.getKey().substring(name.length() + 1)));
    return List.copyOf(instances);
  }

  private static WorkerInstance worker(
      String id, ServiceInstance instance, Map<String, String> entries) {
    if (!ID.matcher(id).matches()) {
      throw new IllegalArgumentException(
          "its id must be 1 to 200 printable ASCII characters without spaces");
    }
    WorkerMetadata metadata = WorkerMetadata.from(entries);
    String host = instance.getHost();
    URI callback =
        URI.create(
            (instance.isSecure() ? "https" : "http")
                + "://"
                + (host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host)
                + ":"
                + instance.getPort()
                + metadata.callbackPath());
    return new WorkerInstance(
        id, instance.getServiceId().toLowerCase(Locale.ROOT), callback, metadata);
  }
}
