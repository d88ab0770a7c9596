package io.punctual.server.registry;

import io.punctual.server.security.Printable;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.util.ArrayList;
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
  private final Set<String> complained = ConcurrentHashMap.newKeySet();

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
    for (String application : new TreeSet<>(discovery.getServices())) {
      all.addAll(read(application));
    }
    return all;
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
        complained.remove(id);
      } catch (IllegalArgumentException e) {
        if (complained.add(id)) {
          log.warn(
              "Instance {} of {} gets no jobs, its registry metadata makes no sense: {}",
              Printable.of(id),
              application,
              Printable.of(String.valueOf(e.getMessage())));
        }
      }
    }
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
