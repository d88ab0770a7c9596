package io.punctual.server.jobs;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.punctual.ErrorCode;
import io.punctual.core.Claims;
import io.punctual.core.Engine;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.server.problem.ApiException;
import io.punctual.server.registry.ServedTypes;
import io.punctual.server.security.Caller;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.SmartLifecycle;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Component;
import org.springframework.web.context.request.async.DeferredResult;

/**
 * Holds the requests that wait for jobs, without a thread for each. Their number is limited, in all
 * and by application, because each holds a connection. Before the web server stops taking requests
 * they are all answered, so that none delays the stop.
 */
@Component
public class LongPolls implements SmartLifecycle, MeterBinder {

  /** Longest wait: shorter than what proxies between here and there usually allow. */
  public static final Duration MAX_WAIT = Duration.ofSeconds(60);

  /** Of all connections: the others are for submits, answers, operators and health. */
  private static final int SHARE_OF_ALL = 2;

  /** Of those, for one application. */
  private static final int SHARE_OF_ONE = 2;

  private static final Duration LATER = Duration.ofSeconds(2);

  private final ServedTypes workers;
  private final Claims claims;
  private final int max;
  private final int maxOfOne;
  private final Set<Poll> open = ConcurrentHashMap.newKeySet();
  private final Map<String, Integer> byApplication = new ConcurrentHashMap<>();
  // The answer may ask the store, and the engine's own threads must not block.
  private final ExecutorService answers = Executors.newVirtualThreadPerTaskExecutor();
  private volatile boolean running;

  /** Says how many connections the web server keeps open at most. */
  public interface Connections {
    /** Returns their number. */
    int max();
  }

  /** A request that waits, or whose answer is on its way. */
  private final class Poll {

    private final PullRequest request;
    private final BooleanSupplier gone;
    private final BooleanSupplier allowed = Caller.stillValid();
    private final DeferredResult<ResponseEntity<?>> result;
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private volatile CompletableFuture<List<PulledJob>> pulled = new CompletableFuture<>();
    private volatile @Nullable PulledAnswer answer;
    private volatile boolean ended;

    Poll(PullRequest request, BooleanSupplier gone) {
      this.request = request;
      this.gone = gone;
      // Longer than the wait: the engine ends it.
      this.result = new DeferredResult<>(request.patience().toMillis() + 30_000);
    }

    String application() {
      return request.queues().get(0).application();
    }

    void end() {
      ended = true;
      pulled.complete(List.of());
    }

    private void close() {
      end();
      PulledAnswer given = answer;
      if (given != null) {
        given.over();
      }
      if (open.remove(this)) {
        byApplication.computeIfPresent(application(), (name, n) -> n > 1 ? n - 1 : null);
      }
      over.complete(null);
    }

    // Nothing is handed to a caller that is gone, or that may not have it any more.
    private void requireReceiver() {
      if (!allowed.getAsBoolean()) {
        throw ApiException.of(
            ErrorCode.UNAUTHENTICATED,
            "the token was revoked, or has ended, while this request waited for jobs");
      } else if (gone.getAsBoolean()) {
        throw ApiException.unavailable("the connection was closed", LATER);
      }
    }

    private void set(
        @Nullable List<PulledJob> jobs,
        @Nullable Throwable error,
        Function<List<PulledJob>, ResponseEntity<?>> form) {
      Throwable problem = error;
      if (jobs != null) {
        try {
          if (!jobs.isEmpty()) {
            requireReceiver();
            jobs.stream()
                .collect(Collectors.groupingBy(job -> job.token().queue(), Collectors.counting()))
                .forEach((queue, n) -> workers.given(queue, request.owner(), n.intValue()));
          }
          ResponseEntity<?> answered = form.apply(jobs);
          if (answered.getBody() instanceof PulledAnswer given) {
            answer = given;
          }
          if (!result.setResult(answered)) {
            PulledAnswer unsent = answer;
            if (unsent != null) {
              unsent.over();
            }
          }
          return;
        } catch (RuntimeException e) {
          PulledAnswer.giveBack(jobs, claims);
          problem = e;
        }
      }
      Throwable cause = problem instanceof CompletionException e ? e.getCause() : problem;
      result.setErrorResult(
          cause != null ? cause : new IllegalStateException("neither jobs nor an error"));
    }
  }

  @Autowired
  LongPolls(Engine engine, ServedTypes workers, Connections connections) {
    this(engine.claims(), workers, connections.max() / SHARE_OF_ALL);
  }

  /**
   * @param max how many may wait at once, in all
   */
  LongPolls(Claims claims, ServedTypes workers, int max) {
    this.claims = claims;
    this.workers = workers;
    this.max = max;
    this.maxOfOne = max / SHARE_OF_ONE;
  }

  /**
   * Pulls, and answers when there is something or the wait is over.
   *
   * @param gone whether the caller has closed its connection
   * @param form makes the answer; jobs are in a {@link PulledAnswer}
   * @throws ApiException 503 when this scheduler stops or too many wait, 429 when too many of the
   *     application wait
   */
  DeferredResult<ResponseEntity<?>> pull(
      PullRequest request,
      BooleanSupplier gone,
      Function<List<PulledJob>, ResponseEntity<?>> form) {
    if (!running) {
      throw ApiException.unavailable(
          "this scheduler is shutting down; pull from another one", Duration.ofSeconds(1));
    }
    workers.pulled(request.queues(), request.owner());
    Poll poll = new Poll(request, gone);
    enter(poll);
    try {
      poll.pulled = claims.pull(request);
    } catch (RuntimeException e) {
      poll.close();
      throw e;
    }
    if (!running || poll.ended) {
      poll.end();
    }
    // Jobs that come after the caller has gone are given back.
    poll.result.onError(error -> poll.end());
    poll.result.onTimeout(poll::end);
    poll.result.onCompletion(poll::close);
    var unused =
        poll.pulled.whenCompleteAsync((jobs, error) -> poll.set(jobs, error, form), answers);
    return poll.result;
  }

  private void enter(Poll poll) {
    int ofOne = byApplication.merge(poll.application(), 1, Integer::sum);
    open.add(poll);
    if (ofOne > maxOfOne) {
      poll.close();
      throw ApiException.tooMany(
          poll.application()
              + " has "
              + maxOfOne
              + " requests that wait for jobs at this scheduler, which is the most: ask for more"
              + " jobs with each, or try again later",
          LATER);
    } else if (open.size() > max) {
      poll.close();
      throw ApiException.unavailable(
          "this scheduler has "
              + max
              + " requests that wait for jobs, which is the most: try again later, or ask another"
              + " scheduler",
          LATER);
    }
  }

  /**
   * Ends the waits of a worker that leaves.
   *
   * @return completes with their number once their answers are written, or never will be
   */
  CompletableFuture<Integer> leave(String application, String worker) {
    List<Poll> ending =
        open.stream()
            .filter(poll -> poll.application().equals(application))
            .filter(poll -> poll.request.owner().equals(worker))
            .toList();
    ending.forEach(Poll::end);
    return CompletableFuture.allOf(
            ending.stream().map(poll -> poll.over).toArray(CompletableFuture[]::new))
        .thenApply(done -> ending.size());
  }

  /** How many wait now. */
  int size() {
    return open.size();
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    Gauge.builder("punctual.in.use", this, LongPolls::size)
        .tag("what", "pulls")
        .description("What calls, pulls and deliveries under way take; 0 at rest")
        .register(registry);
  }

  @Override
  public void start() {
    running = true;
  }

  @Override
  public void stop() {
    running = false;
    open.forEach(Poll::end);
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
