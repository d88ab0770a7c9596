package io.punctual.plugin;

import io.punctual.core.engine.Engine;
import java.time.Duration;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/** Runs jobs from when the application is up until it stops, and lets running ones finish. */
final class PluginLifecycle implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(PluginLifecycle.class);

  private final Engine engine;
  private final InProcessDispatcher dispatcher;
  private final String application;
  private final Set<String> types;
  private final Duration patience;
  private volatile boolean running;

  PluginLifecycle(
      Engine engine,
      InProcessDispatcher dispatcher,
      String application,
      Set<String> types,
      Duration patience) {
    this.engine = engine;
    this.dispatcher = dispatcher;
    this.application = application;
    this.types = types;
    this.patience = patience;
  }

  @Override
  public void start() {
    engine.start();
    running = true;
    if (types.isEmpty()) {
      log.warn(
          "Punctual runs no jobs of {} here: there is no @DelayedTask method and no TaskWorker bean."
              + " Submitting works.",
          application);
    } else {
      log.info("Punctual runs jobs of {} in this process: {}", application, types);
    }
  }

  @Override
  public void stop() {
    running = false;
    engine.stop(patience);
    dispatcher.interrupt();
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  // After the web server has stopped taking requests (DEFAULT_PHASE - 1024), before Redis goes.
  @Override
  public int getPhase() {
    return SmartLifecycle.DEFAULT_PHASE - 4096;
  }
}
