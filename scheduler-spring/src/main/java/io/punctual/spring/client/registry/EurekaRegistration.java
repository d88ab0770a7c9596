package io.punctual.spring.client.registry;

import com.netflix.appinfo.ApplicationInfoManager;
import com.netflix.appinfo.EurekaInstanceConfig;
import com.netflix.appinfo.InstanceInfo;
import io.punctual.client.callback.AdvertisedCallback;
import io.punctual.client.registration.InstanceRegistration;
import io.punctual.wire.WorkerMetadata;
import java.net.URI;
import org.springframework.cloud.netflix.eureka.EurekaServiceInstance;
import org.springframework.context.SmartLifecycle;

/**
 * Puts the task types into Eureka's metadata before the first registration, which Eureka's own
 * client makes, and takes the instance out of the rotation.
 */
public final class EurekaRegistration implements InstanceRegistration, SmartLifecycle {

  private final ApplicationInfoManager registration;
  private final EurekaInstanceConfig settings;
  private final WorkerMetadata metadata;
  private volatile boolean running;

  /**
   * @param settings from which the registration is made at the first call for it
   */
  public EurekaRegistration(
      ApplicationInfoManager registration, EurekaInstanceConfig settings, WorkerMetadata metadata) {
    this.registration = registration;
    this.settings = settings;
    this.metadata = metadata;
  }

  @Override
  public void start() {
    settings.getMetadataMap().putAll(metadata.toMap());
    if (hasPort()) {
      // It may be there already, without them.
      registration.registerAppMetadata(metadata.toMap());
    }
    running = true;
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
        own.getInstanceId(), URI.create(own.getUri() + metadata.callbackPath()));
  }

  @Override
  public String remedy() {
    return "eureka.client.service-url.defaultZone must be the same registry here and at the"
        + " scheduler, and eureka.client.register-with-eureka must not be false.";
  }
}
