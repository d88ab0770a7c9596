package io.punctual.server.api;

import io.punctual.core.engine.Engine;
import io.punctual.core.engine.PullRequest;
import io.punctual.core.engine.PulledJob;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;
import org.springframework.web.context.request.async.DeferredResult;

/**
 * The requests that wait for jobs. They hold no thread while they wait. Before the web server stops
 * taking requests they are all answered, so that none delays the stop.
 */
@Component
class OpenPulls implements SmartLifecycle {

  /** Longest wait: shorter than what proxies between here and there usually allow. */
  static final Duration MAX_WAIT = Duration.ofSeconds(60);

  private final Engine engine;
  private final Map<DeferredResult<?>, CompletableFuture<List<PulledJob>>> open =
      new ConcurrentHashMap<>();
  // The answer may ask the store, and the engine's own threads must not block.
  private final ExecutorService answers = Executors.newVirtualThreadPerTaskExecutor();
  private volatile boolean running;

  OpenPulls(Engine engine) {
    this.engine = engine;
  }

  /** Pulls, and answers when there is something or the wait is over. */
  <T> DeferredResult<T> pull(PullRequest request, Function<List<PulledJob>, T> answer) {
    if (!running) {
      throw ApiException.unavailable(
          "this scheduler is shutting down; pull from another one", Duration.ofSeconds(1));
    }
    // Longer than the wait: the engine ends it.
    DeferredResult<T> result = new DeferredResult<>(request.patience().toMillis() + 30_000);
    CompletableFuture<List<PulledJob>> pulled = engine.claims().pull(request);
    open.put(result, pulled);
    if (!running) {
      pulled.complete(List.of());
    }
    // Whoever went away gets nothing: jobs that come for them are given back.
    result.onError(error -> pulled.complete(List.of()));
    result.onTimeout(() -> pulled.complete(List.of()));
    var unused =
        pulled.whenCompleteAsync(
            (jobs, error) -> {
              open.remove(result);
              set(result, jobs, error, answer);
            },
            answers);
    return result;
  }

  private static <T> void set(
      DeferredResult<T> result,
      @Nullable List<PulledJob> jobs,
      @Nullable Throwable error,
      Function<List<PulledJob>, T> answer) {
    Throwable problem = error;
    if (jobs != null) {
      try {
        result.setResult(answer.apply(jobs));
        return;
      } catch (RuntimeException e) {
        problem = e;
      }
    }
    Throwable cause = problem instanceof CompletionException e ? e.getCause() : problem;
    result.setErrorResult(
        cause != null ? cause : new IllegalStateException("neither jobs nor an error"));
  }

  @Override
  public void start() {
    running = true;
  }

  @Override
  public void stop() {
    running = false;
    open.values().forEach(pulled -> pulled.complete(List.of()));
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  // Before the web server's graceful stop (DEFAULT_PHASE - 1024).
  @Override
  public int getPhase() {
    return SmartLifecycle.DEFAULT_PHASE;
  }
}
