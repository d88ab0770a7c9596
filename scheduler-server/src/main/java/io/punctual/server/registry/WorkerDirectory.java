package io.punctual.server.registry;

import io.punctual.server.text.Printable;
import io.punctual.server.text.PrintableException;
import io.punctual.wire.Limits;
import io.punctual.wire.WorkerMetadata;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;

/**
 * The instances of each application, read from the discovery client's own cached view. What the
 * registry says is who exists, never who is alive: that is for the dispatcher to find out.
 */
public class WorkerDirectory {

  private static final Logger log = LoggerFactory.getLogger(WorkerDirectory.class);

  private static final Pattern ID = Pattern.compile("[!-~]{1,200}");

  // Names come from registered instances: bounds the log lines a minute and the entries.
  private static final int MOST_LINES = 60;
  private static final int MOST_UNUSABLE = 1_000;
  private static final long MINUTE_NS = Duration.ofMinutes(1).toNanos();

  private final DiscoveryClient discovery;
  private final boolean requireTls;
  private final Map<String, List<WorkerInstance>> view = new ConcurrentHashMap<>();
  // By application and id, as the registry has them.
  private final Map<String, Map<String, Unusable>> unusable = new ConcurrentHashMap<>();
  private long minute = System.nanoTime();
  private int lines;

  /**
   * An instance that gets no jobs since what it says of itself makes no sense.
   *
   * @param application in lower case, printable as all of it
   * @param reason names the entry
   */
  public record Unusable(String application, String instance, String reason) {}

  /**
   * @param requireTls whether instances that are registered for http get no jobs
   */
  public WorkerDirectory(DiscoveryClient discovery, boolean requireTls) {
    this.discovery = discovery;
    this.requireTls = requireTls;
  }

  /** The instances of an application that take jobs of some type. */
  public List<WorkerInstance> instances(String application) {
    return view.computeIfAbsent(application, name -> readOr(name, List.of()));
  }

  /** The applications whose instances were asked for. */
  public Set<String> applications() {
    return Set.copyOf(view.keySet());
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
      String name = application.toLowerCase(Locale.ROOT);
      if (applications.add(name)) {
        all.addAll(readOr(application, view.getOrDefault(name, List.of())));
      }
    }
    unusable.keySet().retainAll(applications);
    return all;
  }

  /** Those that were seen and are not among the instances. */
  public List<Unusable> unusable() {
    return unusable.values().stream().flatMap(bad -> bad.values().stream()).toList();
  }

  /** Reads the view again for all applications that were asked for. */
  public void refresh() {
    view.replaceAll((application, before) -> readOr(application, before));
  }

  // Whatever is thrown, also an Error: it is of one application, and the others must be seen.
  private List<WorkerInstance> readOr(String application, List<WorkerInstance> before) {
    try {
      return read(application);
    } catch (Throwable e) {
      if (mayTell()) {
        log.warn(
            "The registry's view of {} could not be read, the last one stays: {}",
            Printable.of(application),
            PrintableException.text(e));
      }
      return before;
    }
  }

  private List<WorkerInstance> read(String application) {
    List<WorkerInstance> instances = new ArrayList<>();
    Map<String, Unusable> bad = new LinkedHashMap<>();
    String name = application.toLowerCase(Locale.ROOT);
    for (ServiceInstance instance : discovery.getInstances(application)) {
      try {
        WorkerInstance worker = worker(application, instance);
        if (worker != null) {
          instances.add(worker);
        }
      } catch (Throwable e) {
        // Nor may one instance hide the others.
        if (bad.size() < MOST_UNUSABLE) {
          String id = idOr(instance, "?");
          bad.put(id, new Unusable(Printable.of(name), Printable.of(id), reason(e)));
        }
      }
    }
    Map<String, Unusable> before =
        Objects.requireNonNullElse(
            bad.isEmpty() ? unusable.remove(name) : unusable.put(name, bad), Map.of());
    bad.forEach(
        (id, now) -> {
          if (!now.equals(before.get(id)) && mayTell()) {
            log.warn(
                "Instance {} of {} gets no jobs, what it says in the registry makes no sense: {}",
                now.instance(),
                now.application(),
                now.reason());
          }
        });
    return List.copyOf(instances);
  }

  private static String reason(Throwable e) {
    return e instanceof IllegalArgumentException
        ? Printable.of(String.valueOf(e.getMessage()))
        : "it could not be read: " + PrintableException.text(e);
  }

  private synchronized boolean mayTell() {
    long now = System.nanoTime();
    if (now - minute >= MINUTE_NS) {
      minute = now;
      lines = 0;
    }
    lines++;
    if (lines == MOST_LINES) {
      log.warn("More of what is wrong in the registry is not logged in this minute");
    }
    return lines < MOST_LINES;
  }

  /** Null if it is no worker of that application. */
  private @Nullable WorkerInstance worker(String application, ServiceInstance instance) {
    Map<String, String> entries = instance.getMetadata();
    // Eureka looks up by a virtual address, which is whatever an instance says: another
    // application's key must not stand for this one's.
    if (!isSame(application, instance.getServiceId())
        || entries == null
        || !entries.containsKey(WorkerMetadata.TASK_TYPES)) {
      return null;
    }
    if (!Limits.isName(application)) {
      throw new IllegalArgumentException("its application's name " + Limits.NAME_RULE);
    }
    String id = id(instance);
    if (!ID.matcher(id).matches()) {
      throw new IllegalArgumentException(
          "its id must be 1 to 200 printable ASCII characters without spaces");
    }
    if (requireTls && !instance.isSecure()) {
      throw new IllegalArgumentException(
          "it must be called by https (punctual.dispatch.require-tls), and registered for http: set"
              + " eureka.instance.secure-port-enabled=true in the worker, or server.ssl.bundle");
    }
    WorkerMetadata metadata = WorkerMetadata.from(entries);
    return new WorkerInstance(
        id,
        application.toLowerCase(Locale.ROOT),
        CallbackAddress.of(
            instance.isSecure(), instance.getHost(), instance.getPort(), metadata.callbackPath()),
        metadata);
  }

  /** Without case among names; others have letters that are the same as ours in another case. */
  private static boolean isSame(String application, @Nullable String service) {
    return application.equals(service)
        || (service != null
            && Limits.isName(application)
            && Limits.isName(service)
            && application.equalsIgnoreCase(service));
  }

  private static String id(ServiceInstance instance) {
    return instance.getInstanceId() != null
        ? instance.getInstanceId()
        : instance.getHost() + ":" + instance.getPort();
  }

  private static String idOr(ServiceInstance instance, String otherwise) {
    try {
      return id(instance);
    } catch (Throwable e) {
      return otherwise;
    }
  }
}
