package io.punctual.spring.client;

import io.punctual.client.registration.InstanceRegistration;
import io.punctual.client.run.JobRunner;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Takes jobs once the web server is up. Stops before all others: has schedulers give this instance
 * no more jobs, then waits for running jobs and for calls that are still on their way.
 */
final class Drain implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(Drain.class);

  // A scheduler reads the registry every two seconds, whose answers are as old again at most.
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
      log.warn("Schedulers could not be told that this instance stops; it stops all the same", e);
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
