package io.punctual.server.dispatch;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.core.IntervalFunction;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many jobs one application may have at all. Where everything fails, its jobs wait instead of
 * using up their attempts; then one job probes, and when that succeeds, the number grows from a few
 * by one with each job that succeeds, which doubles it each round: an application that has just
 * come back is not buried.
 */
final class Circuit {

  private static final Logger log = LoggerFactory.getLogger(Circuit.class);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);
  private static final int FIRST = 4;
  private static final int GROWN = 1_000;

  private final CircuitBreaker breaker;
  private int outstanding;
  private int limit = Integer.MAX_VALUE;

  Circuit(String application, CircuitOptions options) {
    Duration longest =
        options.pause().compareTo(LONGEST_PAUSE) > 0 ? options.pause() : LONGEST_PAUSE;
    this.breaker =
        CircuitBreaker.of(
            application,
            CircuitBreakerConfig.custom()
                .slidingWindowType(CircuitBreakerConfig.SlidingWindowType.COUNT_BASED)
                .slidingWindowSize(options.failures())
                .minimumNumberOfCalls(options.failures())
                .failureRateThreshold(100)
                .waitIntervalFunctionInOpenState(
                    IntervalFunction.ofExponentialBackoff(options.pause(), 2, longest))
                .permittedNumberOfCallsInHalfOpenState(1)
                .automaticTransitionFromOpenToHalfOpenEnabled(true)
                .build());
    breaker
        .getEventPublisher()
        .onStateTransition(event -> became(application, event.getStateTransition().getToState()));
  }

  private synchronized void became(String application, CircuitBreaker.State state) {
    switch (state) {
      case OPEN ->
          log.warn(
              "Everything that {} was sent of late has failed: its jobs wait, without losing"
                  + " attempts, and one of them probes it from time to time",
              application);
      case CLOSED -> {
        limit = FIRST;
        log.info("{} works again: its jobs go out, a few at first", application);
      }
      default -> log.debug("the circuit of {} is {}", application, state);
    }
  }

  /** How many more jobs it may get now. */
  synchronized int free() {
    return switch (breaker.getState()) {
      case OPEN, FORCED_OPEN -> 0;
      case HALF_OPEN -> outstanding == 0 ? 1 : 0;
      default -> Math.max(0, limit - outstanding);
    };
  }

  /** Whether jobs wait because all of them failed. */
  boolean isOpen() {
    return breaker.getState() != CircuitBreaker.State.CLOSED;
  }

  /** A job is on its way. */
  void started() {
    boolean unused = breaker.tryAcquirePermission();
    synchronized (this) {
      outstanding++;
    }
  }

  /** It was answered by a worker that works. */
  void succeeded() {
    synchronized (this) {
      outstanding--;
      if (limit != Integer.MAX_VALUE) {
        limit = limit > GROWN ? Integer.MAX_VALUE : limit + 1;
      }
    }
    breaker.onSuccess(0, TimeUnit.NANOSECONDS);
  }

  /** It failed, or nobody knows. */
  void failed(String error) {
    synchronized (this) {
      outstanding--;
    }
    breaker.onError(0, TimeUnit.NANOSECONDS, new IllegalStateException(error));
  }

  /** It was not sent, after all. */
  void withdrawn() {
    synchronized (this) {
      outstanding--;
    }
    breaker.releasePermission();
  }
}
