package io.punctual.server.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.punctual.core.job.Bucket;
import io.punctual.core.store.StoreCalls;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** {@code punctual.store.scripts}: how long calls of the store take. */
@Component
@ConditionalOnPunctualMetrics
final class ScriptTimings implements StoreCalls.Listener {

  private static final Duration[] BUCKETS =
      Stream.of(1L, 2L, 5L, 10L, 25L, 50L, 100L, 250L, 500L, 1_000L, 3_000L)
          .map(Duration::ofMillis)
          .toArray(Duration[]::new);

  private final MeterRegistry registry;
  private final Map<String, Timer> answered = new ConcurrentHashMap<>();
  private final Map<String, Timer> failed = new ConcurrentHashMap<>();

  ScriptTimings(MeterRegistry registry) {
    this.registry = registry;
  }

  @Override
  public void answered(String call, @Nullable Bucket bucket, long nanos) {
    ran(call, bucket, nanos, true);
  }

  @Override
  public void failed(String call, @Nullable Bucket bucket, long nanos, RuntimeException e) {
    ran(call, bucket, nanos, false);
  }

  private void ran(String script, @Nullable Bucket bucket, long nanos, boolean wasAnswered) {
    if (bucket == null) {
      // No script.
      return;
    }
    Map<String, Timer> timers = wasAnswered ? answered : failed;
    Timer timer = timers.get(script);
    if (timer == null) {
      timer = timers.computeIfAbsent(script, name -> timer(name, wasAnswered));
    }
    timer.record(nanos, TimeUnit.NANOSECONDS);
  }

  private Timer timer(String script, boolean wasAnswered) {
    return Timer.builder("punctual.store.scripts")
        .description("Calls of the store, each for one or many jobs")
        .tag("script", script)
        .tag("outcome", wasAnswered ? "answered" : "failed")
        .serviceLevelObjectives(BUCKETS)
        .register(registry);
  }
}
