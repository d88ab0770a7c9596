package io.punctual.spring.client;

import io.punctual.client.ClientIdentity;
import io.punctual.client.registration.InstanceRegistration;
import io.punctual.client.registration.SchedulerRegistration;
import io.punctual.client.submit.SchedulerLocator;
import io.punctual.internal.TaskWorkers;
import io.punctual.spring.client.registry.RegistryAddress;
import io.punctual.spring.client.registry.ServiceRegistration;
import io.punctual.wire.WorkerMetadata;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/** One line that answers most questions about a start. */
final class StartupReport {

  private static final Logger log = LoggerFactory.getLogger(StartupReport.class);

  private final ClientIdentity identity;
  private final TaskWorkers workers;
  private final SchedulerLocator locator;
  private final WorkerMetadata metadata;
  private final @Nullable InstanceRegistration registration;
  private final Environment environment;

  StartupReport(
      ClientIdentity identity,
      TaskWorkers workers,
      SchedulerLocator locator,
      WorkerMetadata metadata,
      @Nullable InstanceRegistration registration,
      Environment environment) {
    this.identity = identity;
    this.workers = workers;
    this.locator = locator;
    this.metadata = metadata;
    this.registration = registration;
    this.environment = environment;
  }

  @EventListener
  void report(ApplicationReadyEvent event) {
    log.info(
        "Punctual: {} runs {}; callback {} on port {}; registry {}; schedulers {}",
        identity.application(),
        workers.types().isEmpty()
            ? "no task types (no @DelayedTask method and no TaskWorker bean: it only submits)"
            : workers.types(),
        metadata.callbackPath(),
        environment.getProperty("local.server.port"),
        registry(),
        locator.shown());
    if (!workers.types().isEmpty() && registration == null) {
      log.warn(
          "Punctual: no registry's client registers this instance, and"
              + " punctual.registration=registry, so schedulers DO NOT CALL it unless it is in their"
              + " registry by other means, with {}={} in its metadata (a label or annotation, for"
              + " instance). Else enable the client of a registry (eureka.client.enabled=true). Or"
              + " set punctual.registration=scheduler: the instance registers at the schedulers. Or"
              + " set punctual.delivery=pull: the instance fetches its jobs.",
          WorkerMetadata.CALLBACK,
          metadata.callbackPath());
    }
    if (ClassUtils.isPresent("org.glassfish.jersey.client.JerseyClient", null)
        && environment.getProperty("eureka.client.jersey.enabled", Boolean.class, true)) {
      log.warn(
          "Jersey's client is on the class path, so the Eureka client uses it; set"
              + " eureka.client.jersey.enabled=false to keep to Spring's RestClient");
    }
  }

  private String registry() {
    RegistryAddress address = RegistryAddress.of(environment);
    String used =
        registration instanceof ServiceRegistration own
            ? own.registry() + (address.shown() == null ? "" : " " + address.shown())
            : address.shown();
    return (used == null ? "none" : used)
        + (registration instanceof SchedulerRegistration ? " (registers at the schedulers)" : "");
  }
}
