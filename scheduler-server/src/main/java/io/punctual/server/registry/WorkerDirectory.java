package io.punctual.server.registry;

import io.punctual.server.text.Printable;
import io.punctual.server.text.PrintableException;
import io.punctual.wire.Limits;
import io.punctual.wire.WorkerMetadata;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.client.ServiceInstance;

/**
 * The instances of each application, of all sources. What they say is who exists, never who is
 * alive: that is for the dispatcher to find out. An instance that two sources have is taken from
 * the later one. What an instance says of itself when it is called counts more than what its source
 * has, until that changes.
 */
public class WorkerDirectory {

  private static final Logger log = LoggerFactory.getLogger(WorkerDirectory.class);

  private static final Pattern ID = Pattern.compile("[!-~]{1,200}");

  // Names come from registered instances: bounds the log lines a minute and the entries.
  private static final int MOST_LINES = 60;
  private static final int MOST_UNUSABLE = 1_000;
  private static final long MINUTE_NS = Duration.ofMinutes(1).toNanos();

  private final List<InstanceSource> sources;
  private final boolean requireTls;
  private final Map<String, List<WorkerInstance>> view = new ConcurrentHashMap<>();
  // What each source had last, of those in the view.
  private final Map<Origin, List<WorkerInstance>> last = new ConcurrentHashMap<>();
  // By application and id, as the sources have them.
  private final Map<Origin, Map<String, Unusable>> unusable = new ConcurrentHashMap<>();
  private final Map<Entry, Said> said = new ConcurrentHashMap<>();
  private long minute = System.nanoTime();
  private int lines;

  private record Origin(String source, String application) {}

  private record Entry(Origin origin, String id) {

    static Entry of(WorkerInstance instance) {
      return new Entry(new Origin(instance.source(), instance.application()), instance.id());
    }
  }

  /** What an instance said while it was registered like that. */
  private record Said(WorkerInstance instance, WorkerMetadata metadata) {}

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
  public WorkerDirectory(List<InstanceSource> sources, boolean requireTls) {
    this.sources = List.copyOf(sources);
    this.requireTls = requireTls;
  }

  /** Whether instances that are registered for http get no jobs. */
  public boolean requiresTls() {
    return requireTls;
  }

  /** The instances of an application that take jobs of some type. */
  public List<WorkerInstance> instances(String application) {
    return view.computeIfAbsent(application, this::read);
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
   * All instances of all applications. Reads the whole views of the sources; applications that were
   * not asked for by name are not kept.
   */
  public List<WorkerInstance> all() {
    // As the first source writes them.
    Map<String, String> applications = new TreeMap<>();
    for (InstanceSource source : sources) {
      applications(source)
          .forEach(name -> applications.putIfAbsent(name.toLowerCase(Locale.ROOT), name));
    }
    // A registry may show by name what it does not list.
    view.keySet().forEach(name -> applications.putIfAbsent(name.toLowerCase(Locale.ROOT), name));
    List<WorkerInstance> all = new ArrayList<>();
    applications.values().forEach(application -> all.addAll(read(application)));
    unusable.keySet().removeIf(origin -> !applications.containsKey(origin.application()));
    last.keySet().removeIf(origin -> !view.containsKey(origin.application()));
    return all;
  }

  // Those that were known stand for a source that cannot be read.
  private Collection<String> applications(InstanceSource source) {
    try {
      return source.applications();
    } catch (Throwable e) {
      if (mayTell()) {
        log.warn(
            "The applications in the registry ({}) could not be read: {}",
            source.name(),
            PrintableException.text(e));
      }
      return last.keySet().stream()
          .filter(origin -> origin.source().equals(source.name()))
          .map(Origin::application)
          .toList();
    }
  }

  /**
   * Takes what an instance said of itself when it was called; counts from the next reading on. Who
   * registers at a scheduler says it with each renewal, within bounds, and is not listened to here.
   */
  public void said(WorkerInstance instance, WorkerMetadata metadata) {
    if (!instance.source().equals(RegisteredSource.NAME)) {
      said.put(Entry.of(instance), new Said(instance, metadata));
    }
  }

  /** Forgets what others said, but for those that say it while the instances are read. */
  public void retain(Supplier<? extends Collection<WorkerInstance>> instances) {
    Set<Entry> gone = new HashSet<>(said.keySet());
    instances.get().forEach(instance -> gone.remove(Entry.of(instance)));
    said.keySet().removeAll(gone);
  }

  /** Those that were seen and are not among the instances. */
  public List<Unusable> unusable() {
    return unusable.values().stream().flatMap(bad -> bad.values().stream()).toList();
  }

  /** Reads the view again for all applications that were asked for. */
  public void refresh() {
    view.replaceAll((application, before) -> read(application));
  }

  private List<WorkerInstance> read(String application) {
    Map<String, WorkerInstance> instances = new LinkedHashMap<>();
    for (InstanceSource source : sources) {
      readOrLast(source, application).forEach(found -> instances.put(found.id(), found));
    }
    return List.copyOf(instances.values());
  }

  // Whatever is thrown, also an Error: it is of one application, and the others must be seen.
  private List<WorkerInstance> readOrLast(InstanceSource source, String application) {
    Origin origin = new Origin(source.name(), application.toLowerCase(Locale.ROOT));
    try {
      List<WorkerInstance> found = read(source, application, origin);
      last.put(origin, found);
      return found;
    } catch (Throwable e) {
      if (mayTell()) {
        log.warn(
            "The view of {} in the registry ({}) could not be read, the last one stays: {}",
            Printable.of(application),
            source.name(),
            PrintableException.text(e));
      }
      return last.getOrDefault(origin, List.of()).stream().map(this::asSaid).toList();
    }
  }

  private List<WorkerInstance> read(InstanceSource source, String application, Origin origin) {
    List<WorkerInstance> instances = new ArrayList<>();
    Map<String, Unusable> bad = new LinkedHashMap<>();
    for (ServiceInstance instance : source.instances(application)) {
      try {
        WorkerInstance worker = worker(source, application, instance);
        if (worker != null) {
          instances.add(worker);
        }
      } catch (Throwable e) {
        // Nor may one instance hide the others.
        if (bad.size() < MOST_UNUSABLE) {
          String id = idOr(instance, "?");
          String name = Printable.of(origin.application());
          bad.put(id, new Unusable(name, Printable.of(id), reason(e)));
        }
      }
    }
    Map<String, Unusable> before =
        Objects.requireNonNullElse(
            bad.isEmpty() ? unusable.remove(origin) : unusable.put(origin, bad), Map.of());
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
  private @Nullable WorkerInstance worker(
      InstanceSource source, String application, ServiceInstance instance) {
    Map<String, String> entries = instance.getMetadata();
    // Eureka looks up by a virtual address, which is whatever an instance says: another
    // application's key must not stand for this one's.
    if (!isSame(application, instance.getServiceId())
        || entries == null
        || !WorkerMetadata.isWorker(entries)) {
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
          "it must be called by https (punctual.dispatch.require-tls), and registered for http: "
              + secure(source.name()));
    }
    WorkerMetadata metadata = WorkerMetadata.from(entries);
    WorkerInstance registered =
        new WorkerInstance(
            id,
            application.toLowerCase(Locale.ROOT),
            CallbackAddress.of(
                instance.isSecure(),
                instance.getHost(),
                instance.getPort(),
                metadata.callbackPath()),
            metadata,
            metadata,
            source.name(),
            !entries.containsKey(WorkerMetadata.TASK_TYPES));
    return asSaid(registered);
  }

  private static String secure(String source) {
    return switch (source) {
      case "eureka" ->
          "set eureka.instance.secure-port-enabled=true in the worker, or server.ssl.bundle";
      case "zookeeper" ->
          "set spring.cloud.zookeeper.discovery.instance-ssl-port in the worker, or"
              + " server.ssl.bundle";
      case "consul" ->
          "set spring.cloud.consul.discovery.scheme=https in the worker, or server.ssl.bundle";
      case "nacos" ->
          "set spring.cloud.nacos.discovery.secure=true in the worker, or server.ssl.bundle";
      case "kubernetes" -> "label its service with secured=true, or name its port https";
      case RegisteredSource.NAME -> "it must register with an https url";
      default -> "register it as one with TLS";
    };
  }

  private WorkerInstance asSaid(WorkerInstance instance) {
    Entry entry = Entry.of(instance);
    Said last = said.get(entry);
    if (last == null) {
      return instance;
    } else if (!last.instance().isRegisteredAs(instance)) {
      said.remove(entry, last);
      return instance;
    }
    return instance.with(last.metadata());
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
