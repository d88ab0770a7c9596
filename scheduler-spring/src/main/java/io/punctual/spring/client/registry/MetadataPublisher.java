package io.punctual.spring.client.registry;

import com.netflix.appinfo.ApplicationInfoManager;
import com.netflix.appinfo.EurekaInstanceConfig;
import com.netflix.appinfo.InstanceInfo;
import io.punctual.client.run.JobRunner;
import io.punctual.wire.WorkerMetadata;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Puts the task types into the registry's metadata before the first registration, and takes the
 * instance out of the rotation before it stops.
 */
public final class MetadataPublisher implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(MetadataPublisher.class);

  private final ApplicationInfoManager registration;
  private final EurekaInstanceConfig settings;
  private final WorkerMetadata metadata;
  private volatile boolean running;

  /**
   * @param settings of which the registration is made when somebody first asks for it
   */
  public MetadataPublisher(
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

  /** Stops first of all: out of the rotation, then wait for what runs and for those who come. */
  public static final class Drain implements SmartLifecycle {

    // A scheduler reads the registry every two seconds, whose answers are as old again at most.
    private static final Duration LEAVING = Duration.ofSeconds(5);

    private final ApplicationInfoManager registration;
    private final JobRunner runner;
    private final Duration patience;
    private volatile boolean running;

    public Drain(ApplicationInfoManager registration, JobRunner runner, Duration patience) {
      this.registration = registration;
      this.runner = runner;
      this.patience = patience;
    }

    // The instance is in the rotation: Eureka's own registration came before.
    @Override
    public void start() {
      runner.open();
      running = true;
    }

    @Override
    public void stop() {
      running = false;
      registration.setInstanceStatus(InstanceInfo.InstanceStatus.OUT_OF_SERVICE);
      try {
        if (!runner.drain(patience)) {
          log.warn("Some jobs did not end within {}; they will be delivered again", patience);
        }
        // The web server stops next.
        runner.awaitQuiet(LEAVING);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public boolean isRunning() {
      return running;
    }

    @Override
    public int getPhase() {
      return SmartLifecycle.DEFAULT_PHASE;
    }
  }
}
