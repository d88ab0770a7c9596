package io.punctual.spring.client;

import io.punctual.client.registration.InstanceRegistration;
import io.punctual.client.run.JobRunner;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Registers this instance once the web server is up. Stops before all other beans: deregisters the
 * instance, waits for running jobs, and then until schedulers have made no call for a second.
 */
final class Drain implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(Drain.class);

  // How long schedulers may still call. A scheduler reads the registry every two seconds, and the
  // registry's answer may be two seconds old. A deregistration at schedulers is known in a second.
  private static final Duration LEAVING = Duration.ofSeconds(5);

  private final InstanceRegistration registration;
  private final JobRunner runner;
  private final Duration patience;
  private volatile boolean running;

  Drain(InstanceRegistration registration, JobRunner runner, Duration patience) {
    this.registration = registration;
    this.runner = runner;
    this.patience = patience;
  }

  @Override
  public void start() {
    runner.open();
    registration.register();
    running = true;
  }

  @Override
  public void stop() {
    running = false;
    try {
      registration.deregister();
    } catch (RuntimeException e) {
      log.warn(
          "Deregistration failed; this instance stops anyway. Schedulers may call it until they"
              + " notice. No job is lost.",
          e);
    }
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
