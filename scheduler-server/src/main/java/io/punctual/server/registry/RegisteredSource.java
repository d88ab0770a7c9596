package io.punctual.server.registry;

import io.punctual.core.store.StoreException;
import io.punctual.core.store.instance.RegisteredWorkers;
import io.punctual.core.store.instance.RegisteredWorkers.Worker;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.client.DefaultServiceInstance;

/**
 * Instances that registered at a scheduler, this one or another. While Redis does not answer, the
 * last view stays: no job goes out then.
 */
public class RegisteredSource implements InstanceSource {

  /** The word for it. */
  public static final String NAME = "scheduler";

  private static final Logger log = LoggerFactory.getLogger(RegisteredSource.class);

  private final RegisteredWorkers workers;
  private volatile Known known = new Known("", Map.of());

  private record Known(String version, Map<String, List<DefaultServiceInstance>> applications) {}

  /** Reads for the first time with the first {@link #refresh}. */
  public RegisteredSource(RegisteredWorkers workers) {
    this.workers = workers;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Collection<String> applications() {
    return Set.copyOf(known.applications().keySet());
  }

  @Override
  public List<DefaultServiceInstance> instances(String application) {
    return known.applications().getOrDefault(application.toLowerCase(Locale.ROOT), List.of());
  }

  /**
   * Reads what is in Redis, on the caller's thread.
   *
   * @return whether anything has changed
   */
  public synchronized boolean refresh() {
    RegisteredWorkers.View view;
    try {
      view = workers.read(known.version());
    } catch (StoreException e) {
      log.debug("The registered workers could not be read, the last view stays", e);
      return false;
    }
    if (view != null) {
      Map<String, List<DefaultServiceInstance>> found = new HashMap<>();
      for (Worker worker : view.workers()) {
        found
            .computeIfAbsent(worker.application(), name -> new ArrayList<>())
            .add(instance(worker));
      }
      known = new Known(view.version(), found);
    }
    return view != null;
  }

  /**
   * Registers an instance, or renews it.
   *
   * @param session names this run of the instance; empty if nothing does
   * @param metadata with the path of the callback
   * @param life after which it is gone
   * @param own what the instances of the application may take
   * @param all what all instances may take
   */
  public RegisteredWorkers.Put put(
      String application,
      String instance,
      String session,
      URI callback,
      WorkerMetadata metadata,
      Duration life,
      RegisteredWorkers.Bound own,
      RegisteredWorkers.Bound all) {
    String text =
        String.join(
            "\n",
            callback.getScheme(),
            callback.getHost(),
            Integer.toString(callback.getPort()),
            metadata.callbackPath(),
            metadata.protocol(),
            Integer.toString(metadata.concurrency()),
            metadata.toMap().get(WorkerMetadata.TASK_TYPES),
            Objects.requireNonNullElse(metadata.release(), ""));
    return workers.put(new Worker(application, instance, text), session, life, own, all);
  }

  /**
   * Removes an instance.
   *
   * @param session as it was registered; empty for all that are there
   * @param own what the instances of an application may take
   * @param all what the instances of all applications may take
   * @return false if it is not there
   */
  public boolean remove(
      String application,
      String instance,
      String session,
      RegisteredWorkers.Bound own,
      RegisteredWorkers.Bound all) {
    return workers.remove(application, instance, session, own, all);
  }

  // What another program wrote is read as it is: it is checked where the instance is asked for.
  private static DefaultServiceInstance instance(Worker worker) {
    String[] lines = (worker.text() + "\n\n\n\n\n\n\n").split("\n", -1);
    Map<String, String> metadata = new HashMap<>();
    metadata.put(WorkerMetadata.CALLBACK_PATH, lines[3]);
    metadata.put(WorkerMetadata.PROTOCOL, lines[4]);
    metadata.put(WorkerMetadata.CONCURRENCY, lines[5]);
    metadata.put(WorkerMetadata.TASK_TYPES, lines[6]);
    if (!lines[7].isEmpty()) {
      metadata.put(WorkerMetadata.RELEASE, lines[7]);
    }
    int port = lines[2].matches("\\d{1,5}") ? Integer.parseInt(lines[2]) : 0;
    return new DefaultServiceInstance(
        worker.instance(),
        worker.application(),
        lines[1],
        port,
        lines[0].equals("https"),
        metadata);
  }
}
