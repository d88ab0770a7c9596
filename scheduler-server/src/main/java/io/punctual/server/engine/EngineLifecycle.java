package io.punctual.server.engine;

import io.punctual.core.Engine;
import io.punctual.server.dispatch.HttpDispatcher;
import io.punctual.server.registry.PolledSource;
import io.punctual.server.registry.RegisteredSource;
import io.punctual.server.registry.Registries;
import io.punctual.server.registry.WorkerDirectory;
import io.punctual.server.text.PrintableException;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.client.discovery.event.HeartbeatEvent;
import org.springframework.cloud.netflix.eureka.CloudEurekaClient;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/**
 * Starts the engine with the application, stops it before Redis goes, and keeps the view of
 * instances fresh. Redis has its own thread, and so has each registry that must be asked: no view
 * waits for a Redis or a registry that hangs.
 */
@Component
class EngineLifecycle implements SmartLifecycle {

  private static final Logger log = LoggerFactory.getLogger(EngineLifecycle.class);
  private static final long REFRESH_MS = 500;
  // Each round asks the registry for all its applications and their instances.
  private static final long POLL_MS = 2_000;

  private final Engine engine;
  private final WorkerDirectory workers;
  private final RegisteredSource registered;
  private final Registries registries;
  private final HttpDispatcher dispatcher;
  private final EngineProperties properties;
  private volatile @Nullable Reader refresher;
  private volatile @Nullable Reader reader;
  private volatile List<Reader> pollers = List.of();

  EngineLifecycle(
      Engine engine,
      WorkerDirectory workers,
      RegisteredSource registered,
      Registries registries,
      HttpDispatcher dispatcher,
      EngineProperties properties) {
    this.engine = engine;
    this.workers = workers;
    this.registered = registered;
    this.registries = registries;
    this.dispatcher = dispatcher;
    this.properties = properties;
  }

  @Override
  public void start() {
    engine.start();
    refresher = new Reader("registry-view", this::refresh, REFRESH_MS);
    reader = new Reader("registered-workers", this::read, REFRESH_MS);
    pollers =
        registries.polled().stream()
            .map(source -> new Reader(source.name() + "-view", () -> poll(source), POLL_MS))
            .toList();
  }

  /** Does a task again and again, on its own thread. */
  private static final class Reader {

    private final Runnable task;
    private final ScheduledExecutorService thread;
    private final AtomicBoolean wanted = new AtomicBoolean();

    Reader(String name, Runnable task, long pauseMs) {
      this.task = task;
      this.thread =
          Executors.newSingleThreadScheduledExecutor(
              Thread.ofPlatform().daemon().name(name).factory());
      var unused = thread.scheduleWithFixedDelay(task, 0, pauseMs, TimeUnit.MILLISECONDS);
    }

    /** Runs the task soon. Requests that arrive before it starts are merged. */
    void soon() {
      if (wanted.compareAndSet(false, true)) {
        try {
          thread.execute(
              () -> {
                wanted.set(false);
                task.run();
              });
        } catch (RejectedExecutionException e) {
          log.debug("No more is read: the scheduler stops", e);
        }
      }
    }

    void stop() {
      thread.shutdownNow();
    }
  }

  /** A registry's client has a new view, or knows that there is one. */
  @EventListener(HeartbeatEvent.class)
  void onView(HeartbeatEvent event) {
    // Eureka's client fetches every two seconds, which says nothing of other registries.
    if (!(event.getSource() instanceof CloudEurekaClient)) {
      pollers.forEach(Reader::soon);
    }
    changed();
  }

  private void changed() {
    Reader started = refresher;
    if (started != null) {
      started.soon();
    }
  }

  private void poll(PolledSource source) {
    source.refresh();
    changed();
  }

  private void read() {
    try {
      if (registered.refresh()) {
        changed();
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
    Reader view = refresher;
    Reader reads = reader;
    List<Reader> polls = pollers;
    refresher = null;
    reader = null;
    pollers = List.of();
    dispatcher.stop();
    engine.stop(properties.shutdownPatience());
    if (view != null) {
      view.stop();
    }
    if (reads != null) {
      reads.stop();
    }
    polls.forEach(Reader::stop);
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
