package io.punctual.spring.plugin;

import io.punctual.core.Engine;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
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
  private @Nullable CountDownLatch stopped;

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
      stopped = keepAlive();
    }
  }

  // An application without a web server lives as long as it has workers: their own threads, and
  // those of the engine, keep no process alive.
  private static CountDownLatch keepAlive() {
    CountDownLatch stopped = new CountDownLatch(1);
    Thread thread =
        new Thread(
            () -> {
              try {
                stopped.await();
              } catch (InterruptedException e) {
                // Nobody but the end of the process does that.
                return;
              }
            },
            "punctual-keep-alive");
    thread.setDaemon(false);
    thread.start();
    return stopped;
  }

  @Override
  public void stop() {
    running = false;
    try {
      engine.stop(patience);
      dispatcher.interrupt();
    } finally {
      if (stopped != null) {
        stopped.countDown();
      }
    }
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
