package io.punctual.server.engine;

import io.punctual.core.Engine;
import io.punctual.server.dispatch.HttpDispatcher;
import io.punctual.server.registry.RegisteredSource;
import io.punctual.server.registry.WorkerDirectory;
import io.punctual.server.text.PrintableException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.client.discovery.event.HeartbeatEvent;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * Starts the engine with the application, stops it before Redis goes, and keeps the view of
 * instances fresh. Redis has its own thread: the view of the registry does not wait for a Redis
 * that hangs.
 */
@Component
class EngineLifecycle implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(EngineLifecycle.class);
  private static final long REFRESH_MS = 500;

  private final Engine engine;
  private final WorkerDirectory workers;
  private final RegisteredSource registered;
  private final HttpDispatcher dispatcher;
  private final EngineProperties properties;
  private volatile @Nullable ScheduledExecutorService refresher;
  private volatile @Nullable ScheduledExecutorService reader;

  EngineLifecycle(
      Engine engine,
      WorkerDirectory workers,
      RegisteredSource registered,
      HttpDispatcher dispatcher,
      EngineProperties properties) {
    this.engine = engine;
    this.workers = workers;
    this.registered = registered;
    this.dispatcher = dispatcher;
    this.properties = properties;
  }

  @Override
  public void start() {
    engine.start();
    refresher = repeating("registry-view", this::refresh);
    reader = repeating("registered-workers", this::read);
  }

  private static ScheduledExecutorService repeating(String name, Runnable task) {
    ScheduledExecutorService started =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name(name).factory());
    var unused =
        started.scheduleWithFixedDelay(task, REFRESH_MS, REFRESH_MS, TimeUnit.MILLISECONDS);
    return started;
  }

  /** The registry client fetched a new view: do not wait for the next round. */
  @EventListener(HeartbeatEvent.class)
  void onView() {
    ScheduledExecutorService started = refresher;
    if (started != null) {
      started.execute(this::refresh);
    }
  }

  private void read() {
    try {
      if (registered.refresh()) {
        onView();
      }
    } catch (Throwable e) {
      // As below.
      log.error("The registered workers could not be read; trying again", PrintableException.of(e));
    }
  }

  private void refresh() {
    try {
      workers.refresh();
      dispatcher.registryChanged();
    } catch (Throwable e) {
      // Also an Error: a round that ends with one would be the last.
      log.error(
          "The view of the registry could not be refreshed; trying again",
          PrintableException.of(e));
    }
  }

  @Override
  public void stop() {
    ScheduledExecutorService view = refresher;
    ScheduledExecutorService reads = reader;
    refresher = null;
    reader = null;
    dispatcher.stop();
    engine.stop(properties.shutdownPatience());
    if (view != null) {
      view.shutdownNow();
    }
    if (reads != null) {
      reads.shutdownNow();
    }
  }

  @Override
  public boolean isRunning() {
    return refresher != null;
  }

  // After the web server has stopped taking requests (DEFAULT_PHASE - 1024), before beans go.
  @Override
  public int getPhase() {
    return SmartLifecycle.DEFAULT_PHASE - 4096;
  }
}
