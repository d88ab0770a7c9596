package io.punctual.spring.client.registry;

import io.punctual.client.submit.SchedulerSource;
import io.punctual.wire.SchedulerMetadata;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.discovery.event.HeartbeatEvent;
import org.springframework.context.event.EventListener;

/** Schedulers that are found in the registry. */
public final class RegistrySchedulers implements SchedulerSource {

  private static final Logger log = LoggerFactory.getLogger(RegistrySchedulers.class);

  private final ObjectProvider<DiscoveryClient> discovery;
  private final String serviceId;
  private final RegistryAddress address;
  private final AskedClient<ServiceInstance> asked;
  private final AskedClient<String> services = new AskedClient<>(DiscoveryClient::getServices);
  private final ObjectProvider<RegistryAnswers> answers;
  private volatile boolean answered;
  private volatile boolean told;

  /**
   * @param serviceId the schedulers' name in the registry
   * @param address of the registry
   * @param answers of a client that can tell; else a view of it, or a service in it, tells
   */
  public RegistrySchedulers(
      ObjectProvider<DiscoveryClient> discovery,
      String serviceId,
      RegistryAddress address,
      ObjectProvider<RegistryAnswers> answers) {
    this.discovery = discovery;
    this.serviceId = serviceId;
    this.address = address;
    this.asked = new AskedClient<>(client -> compared(client.getInstances(serviceId)));
    this.answers = answers;
  }

  /** The registry's client has a new view. Not every client tells that. */
  @EventListener(HeartbeatEvent.class)
  void onView() {
    answered = true;
    DiscoveryClient client = discovery.getIfAvailable();
    if (client != null) {
      try {
        var unused = asked.ask(client);
      } catch (RuntimeException e) {
        // A call that needs a scheduler reports it.
        log.debug("The registry does not answer", e);
      }
    }
  }

  /** Logs that these schedulers share no jobs, once until they do again. */
  private List<ServiceInstance> compared(List<ServiceInstance> schedulers) {
    boolean several =
        schedulers.stream()
                .map(RegistrySchedulers::installation)
                .filter(Objects::nonNull)
                .distinct()
                .limit(2)
                .count()
            > 1;
    if (several && !told) {
      tellOfSeveralInstallations(schedulers);
    }
    told = several;
    return schedulers;
  }

  private static @Nullable String installation(ServiceInstance scheduler) {
    Map<String, String> metadata = scheduler.getMetadata();
    return metadata == null ? null : metadata.get(SchedulerMetadata.INSTALLATION);
  }

  private void tellOfSeveralInstallations(List<ServiceInstance> schedulers) {
    Map<String, String> installations = new TreeMap<>();
    for (ServiceInstance scheduler : schedulers) {
      String its = installation(scheduler);
      if (its != null) {
        installations.put(its, scheduler.getUri().toString());
      }
    }
    log.warn(
        "Punctual: {} shows schedulers of {} installations as {}: {}. They share no jobs,"
            + " so a job is found only where it was sent. Let all use one Redis and one"
            + " punctual.key-prefix, or give each installation another name:"
            + " spring.application.name there, punctual.service-id here",
        registry(),
        installations.size(),
        serviceId,
        installations.values());
  }

  @Override
  public List<URI> schedulers() {
    DiscoveryClient client = discovery.getIfAvailable();
    return client == null
        ? List.of()
        : asked.ask(client).stream().map(SchedulerAddresses::of).flatMap(Optional::stream).toList();
  }

  @Override
  public String whyNone() {
    DiscoveryClient client = discovery.getIfAvailable();
    if (client == null) {
      return "This application has no DiscoveryClient, and punctual.url is not set.";
    }
    return hasAnswered(client)
        ? "%s shows no instance of %s.".formatted(registry(), serviceId)
        : "%s has not answered yet%s.".formatted(registry(), RegistryProbe.look(address.shown()));
  }

  @Override
  public String remedy(boolean known) {
    DiscoveryClient client = discovery.getIfAvailable();
    if (client == null) {
      return "Set punctual.url to the address of a scheduler, or enable the client of the"
          + " registry (%s).".formatted(address.switched());
    } else if (known) {
      return "%s shows these addresses. Start the scheduler; if it runs, set %s there, or punctual.url here, to an address that this machine reaches."
          .formatted(registry(), address.host());
    }
    return hasAnswered(client)
        ? "Start a scheduler; if one has run for a minute, correct %s (the schedulers' registry) or punctual.service-id (their name there), or set punctual.url (their address)."
            .formatted(address.setting())
        : "Start it, or restart it if it hangs. If it runs at another address, correct %s (the schedulers' registry). To do without a registry, set punctual.url (the schedulers' address)."
            .formatted(address.setting());
  }

  private boolean hasAnswered(DiscoveryClient client) {
    try {
      return answered
          || answers.stream().anyMatch(RegistryAnswers::any)
          || !services.ask(client).isEmpty();
    } catch (RuntimeException e) {
      return false;
    }
  }

  private String registry() {
    return address.shown() == null ? "The registry" : "The registry " + address.shown();
  }
}
