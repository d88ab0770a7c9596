package io.punctual.spring.client.registry;

import io.punctual.client.callback.AdvertisedCallback;
import io.punctual.client.registration.InstanceRegistration;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.event.InstancePreRegisteredEvent;
import org.springframework.cloud.client.discovery.event.InstanceRegisteredEvent;
import org.springframework.cloud.client.serviceregistry.Registration;
import org.springframework.cloud.client.serviceregistry.ServiceRegistry;
import org.springframework.context.event.EventListener;

/**
 * Adds the callback to what Spring Cloud registers of this instance, in whichever registry, and
 * removes the instance from the registry. One entry is enough: schedulers ask the instance for the
 * rest.
 */
public final class ServiceRegistration implements InstanceRegistration {

  private static final Logger log = LoggerFactory.getLogger(ServiceRegistration.class);
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final ServiceRegistry<Registration> registry;
  private final RegistryDialect dialect;
  private final Supplier<WorkerMetadata> metadata;
  // Held while the entry in the registry is changed in the background.
  private final Object entry = new Object();
  private volatile @Nullable Registration own;
  private volatile @Nullable String problem;
  private volatile boolean registered;
  private volatile boolean left;
  private volatile boolean published;

  /**
   * @param registry in which Spring Cloud registers this instance
   * @param metadata returns what this instance runs now
   */
  @SuppressWarnings("unchecked") // It gets no registration but its own.
  public ServiceRegistration(
      ServiceRegistry<?> registry, RegistryDialect dialect, Supplier<WorkerMetadata> metadata) {
    this.registry = (ServiceRegistry<Registration>) registry;
    this.dialect = dialect;
    this.metadata = metadata;
  }

  /** Returns the registry's name, such as zookeeper: its classes are called by it. */
  public static String name(ServiceRegistry<?> registry) {
    return registry
        .getClass()
        .getSimpleName()
        .replaceFirst("ServiceRegistry.*", "")
        .toLowerCase(Locale.ROOT);
  }

  /** Returns the name of the registry in use. */
  public String registry() {
    return name(registry);
  }

  /** Adds the callback to the metadata, unless this instance has no task types. */
  @EventListener
  void publish(InstancePreRegisteredEvent event) {
    Registration registration = event.getRegistration();
    own = registration;
    if (runsAny()) {
      publish(registration);
    }
  }

  private boolean runsAny() {
    return !metadata.get().taskTypes().isEmpty();
  }

  private void publish(Registration registration) {
    String path = metadata.get().callbackPath();
    try {
      dialect.metadata(registration).put(WorkerMetadata.CALLBACK, path);
      published = true;
      problem = null;
    } catch (UnsupportedOperationException e) {
      String setting = WorkerMetadata.CALLBACK + "=" + path;
      problem = "the metadata of its registration in " + registry() + " cannot be changed";
      log.warn(
          "Punctual: {}, so schedulers do not call this instance. Write {} into the metadata of the"
              + " instance, or set punctual.registration=scheduler.",
          problem,
          setting);
      log.debug("The registration's metadata are fixed", e);
    }
  }

  /**
   * Registers again, with the callback, once an instance without task types has the first one. Does
   * nothing where the callback is known: schedulers ask the instance every five seconds.
   */
  @Override
  public synchronized void update() {
    Registration registration = own;
    if (!registered || registration == null || published || problem != null || !runsAny()) {
      return;
    }
    publish(registration);
    if (published) {
      // A registry that stands still must not keep the application from its work.
      background("punctual-registration", () -> registerAgain(registration));
    }
  }

  private void registerAgain(Registration registration) {
    synchronized (entry) {
      while (!left && !takes(registration)) {
        try {
          entry.wait(PATIENCE.toMillis());
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return;
        }
      }
    }
  }

  /** Returns whether the registry accepts the registration; logs the first refusal. */
  private boolean takes(Registration registration) {
    try {
      registry.register(registration);
      problem = null;
      return true;
    } catch (RuntimeException e) {
      if (problem == null) {
        log.warn(
            "Punctual: {} refused its callback ({}), so schedulers do not call this instance."
                + " Retrying every {} s. If this continues, set punctual.registration=scheduler.",
            registry(),
            e,
            PATIENCE.toSeconds());
      }
      problem = "%s refused its callback (%s)".formatted(registry(), e);
      return false;
    }
  }

  private static void background(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }

  @EventListener
  void registered(InstanceRegisteredEvent<?> event) {
    registered = true;
    // A worker may have been added meanwhile.
    update();
  }

  /** Registers again after {@link #deregister}. The first time, Spring Cloud registers. */
  @Override
  public void register() {
    Registration registration = own;
    if (left && registration != null) {
      // A removal that still waits for the registry must not come after it.
      left = false;
      try {
        synchronized (entry) {
          registry.register(registration);
        }
      } catch (RuntimeException e) {
        left = true;
        throw e;
      }
    }
  }

  /**
   * Removes the instance from the registry.
   *
   * @throws IllegalStateException if the registry does not take that within five seconds
   */
  @Override
  public void deregister() {
    Registration registration = own;
    if (!registered || left || registration == null) {
      return;
    }
    left = true;
    // A registry that stands still must not keep the instance from ending its jobs.
    FutureTask<@Nullable Void> removal =
        new FutureTask<>(
            () -> {
              synchronized (entry) {
                if (left) {
                  registry.deregister(registration);
                }
              }
            },
            null);
    background("punctual-deregistration", removal);
    try {
      removal.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      throw new IllegalStateException(registry() + " refused the deregistration", e.getCause());
    } catch (TimeoutException e) {
      throw new IllegalStateException(
          "%s did not answer the deregistration within %d s"
              .formatted(registry(), PATIENCE.toSeconds()),
          e);
    }
  }

  @Override
  public @Nullable AdvertisedCallback advertised() {
    Registration registration = own;
    if (!registered || registration == null) {
      return null;
    }
    ServiceInstance shown = dialect.shown(registration);
    if (shown.getHost() == null) {
      return null;
    }
    String scheme = shown.isSecure() ? "https" : "http";
    String server = shown.getHost() + ":" + shown.getPort();
    String id = shown.getInstanceId();
    return new AdvertisedCallback(
        id == null ? server : id,
        URI.create(scheme + "://" + server + metadata.get().callbackPath()));
  }

  @Override
  public @Nullable String error() {
    if (!registered) {
      return "Spring Cloud has not registered it in " + registry() + " yet";
    }
    ServiceRegistry<?> asked = registry;
    return problem == null && asked instanceof KeptRegistry kept ? kept.problem() : problem;
  }

  @Override
  public String remedy() {
    return dialect.remedy();
  }
}
