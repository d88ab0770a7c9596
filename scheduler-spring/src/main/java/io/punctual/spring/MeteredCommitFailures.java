package io.punctual.spring;

import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;

/** Counts failures as {@code punctual.client.commit.failures}, by call. */
public final class MeteredCommitFailures implements CommitFailures {

  private final MeterRegistry registry;

  /** Registers the counters, so that they are there before anything fails. */
  public MeteredCommitFailures(MeterRegistry registry) {
    this.registry = registry;
    for (Call call : Call.values()) {
      count(call, 0);
    }
  }

  @Override
  public void failed(Call call, @Nullable Throwable error) {
    count(call, 1);
  }

  private void count(Call call, int times) {
    registry.counter("punctual.client.commit.failures", "call", call.toString()).increment(times);
  }
}
