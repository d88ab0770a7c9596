package io.punctual.spring.client.registry;

import com.netflix.appinfo.ApplicationInfoManager;
import com.netflix.appinfo.EurekaInstanceConfig;
import com.netflix.appinfo.InstanceInfo;
import com.netflix.discovery.EurekaClient;
import io.punctual.client.callback.AdvertisedCallback;
import io.punctual.client.registration.InstanceRegistration;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.cloud.netflix.eureka.EurekaServiceInstance;
import org.springframework.context.SmartLifecycle;

/**
 * Puts the task types into Eureka's metadata before the first registration, which Eureka's own
 * client makes, and when they change. Takes the instance out of the rotation.
 */
public final class EurekaRegistration implements InstanceRegistration, SmartLifecycle {

  private final ApplicationInfoManager registration;
  private final EurekaInstanceConfig settings;
  private final Supplier<WorkerMetadata> metadata;
  private final ObjectProvider<EurekaClient> client;
  // Eureka's client sends two changes at once and after that one in 15 s: changes that come
  // together are one.
  private final Executor soon = CompletableFuture.delayedExecutor(200, TimeUnit.MILLISECONDS);
  private final AtomicBoolean updating = new AtomicBoolean();
  private volatile boolean running;

  /**
   * @param settings from which the registration is made at the first call for it
   * @param metadata returns what this instance runs now
   * @param client which sends the registration
   */
  public EurekaRegistration(
      ApplicationInfoManager registration,
      EurekaInstanceConfig settings,
      Supplier<WorkerMetadata> metadata,
      ObjectProvider<EurekaClient> client) {
    this.registration = registration;
    this.settings = settings;
    this.metadata = metadata;
    this.client = client;
  }

  @Override
  public void start() {
    publish();
    running = true;
  }

  private void publish() {
    Map<String, String> entries = metadata.get().toMap();
    settings.getMetadataMap().putAll(entries);
    if (hasPort()) {
      // It may be there already, without them.
      registration.registerAppMetadata(entries);
    }
  }

  /** Sends the metadata within a second. What fails is sent with the next renewal. */
  @Override
  public void update() {
    if (running && updating.compareAndSet(false, true)) {
      soon.execute(
          () -> {
            updating.set(false);
            publish();
            // It sends what has changed at once when a health check is registered, and has no other
            // method for it.
            client.ifAvailable(
                sender -> sender.registerHealthCheck(sender.getHealthCheckHandler()));
          });
    }
  }

  /** Without one (server.port=0), a registration that is made now would say port 80 for ever. */
  private boolean hasPort() {
    return (settings.isNonSecurePortEnabled() ? settings.getNonSecurePort() : 1) > 0
        && (settings.getSecurePortEnabled() ? settings.getSecurePort() : 1) > 0;
  }

  @Override
  public void stop() {
    running = false;
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  // Eureka's own registration starts at phase 0.
  @Override
  public int getPhase() {
    return -1000;
  }

  @Override
  public void deregister() {
    registration.setInstanceStatus(InstanceInfo.InstanceStatus.OUT_OF_SERVICE);
  }

  // As schedulers put it together.
  @Override
  public AdvertisedCallback advertised() {
    EurekaServiceInstance own = new EurekaServiceInstance(registration.getInfo());
    return new AdvertisedCallback(
        own.getInstanceId(), URI.create(own.getUri() + metadata.get().callbackPath()));
  }

  @Override
  public String remedy() {
    return "eureka.client.service-url.defaultZone must be the same registry here and at the"
        + " scheduler, and eureka.client.register-with-eureka must not be false.";
  }
}
