package io.punctual.systemtest.linearizability;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Histories of jobs that several clients change through several engines at once, while something
 * breaks, are linearizable.
 *
 * <p>{@code -Dpunctual.linearizability.runs} says how many runs, {@code
 * -Dpunctual.linearizability.seed} the seed of the first.
 */
@Tag("full")
class LinearizabilityIT {

  // Runs mostly wait, so they need few processors.
  private static final int AT_ONCE = 8;
  private static final int RUNS_OF_EACH_FAULT = 12;

  private record Run(long seed, EngineFault fault, String durability) {}

  @Test
  void eachJobLivesAsIfOneCallCameAfterTheOther() throws Exception {
    List<EngineFault> faults = List.of(EngineFault.values());
    int count =
        Integer.getInteger("punctual.linearizability.runs", RUNS_OF_EACH_FAULT * faults.size());
    long first = Long.getLong("punctual.linearizability.seed", System.nanoTime());
    System.out.printf(
        "linearizability: %d runs, -Dpunctual.linearizability.seed=%d%n", count, first);
    try (ExecutorService runners = Executors.newFixedThreadPool(AT_ONCE)) {
      List<Future<?>> runs = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        EngineFault fault = faults.get(i % faults.size());
        boolean confirms = fault.needsReplica() && i / faults.size() % 2 == 1;
        Run run = new Run(first + i, fault, confirms ? "replicated:1" : "redis");
        runs.add(
            runners.submit(
                () -> {
                  Optional<Histories.Violation> violation =
                      EngineRun.violation(run.seed, run.fault, run.durability);
                  assertThat(violation).as(run.toString()).isEmpty();
                  return null;
                }));
      }
      for (Future<?> run : runs) {
        run.get();
      }
    }
  }
}
