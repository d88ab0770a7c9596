package io.punctual.systemtest.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.punctual.systemtest.Accounting;
import io.punctual.systemtest.Execution;
import java.util.Collection;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * Attempts as workers wrote them down, as Redis counted them for all schedulers together, and as
 * the schedulers counted them in their metrics.
 *
 * <p>An attempt has one run, or none: its request was lost on the way, or the worker answered from
 * memory. Redis counts each attempt that was not given back untried once, as done, failed, unknown
 * or expired. Only the answer {@code done} can come after the attempt was given up on; then it is
 * counted twice.
 */
final class Attempts {

  private final int runs;
  private final int doneJobs;
  private final int failedRuns;
  private final int furtherUnasked;
  private final int done;
  private final int failed;
  private final int unknown;
  private final int expired;
  private final Map<String, Integer> metric;
  private final int forgotten;

  /**
   * @param counters of the queue
   * @param metric redeliveries by cause
   * @param forgotten so many attempts Redis may have forgotten, with what became of them
   */
  Attempts(
      Collection<Execution> executions,
      JsonNode counters,
      Map<String, Integer> metric,
      Accounting accounting,
      int forgotten) {
    this.runs = executions.size();
    this.doneJobs =
        (int) executions.stream().filter(Execution::done).map(Execution::taskId).distinct().count();
    this.failedRuns =
        (int) executions.stream().filter(run -> run.ending() == Execution.Ending.FAILED).count();
    this.furtherUnasked = accounting.furtherUnasked();
    this.done = counters.path("done").asInt(0);
    this.failed = counters.path("failed").asInt(0);
    this.unknown = counters.path("unknown").asInt(0);
    this.expired = counters.path("expired").asInt(0);
    this.metric = metric;
    this.forgotten = forgotten;
  }

  /** Attempts whose answer was lost, or was not heard in time. */
  int further() {
    return unknown + expired;
  }

  /** Attempts that were given up on because the worker took too long, as far as it is known. */
  int timeOver() {
    return metric("time_over");
  }

  /**
   * Compares them.
   *
   * @param whole whether no scheduler was ended and none was away from Redis
   */
  void judge(boolean whole) {
    // Each job is done once for Redis, however often it ran.
    assertThat(done).as("done, %s", this).isEqualTo(doneJobs);
    // Redis heard of a failure only from a worker; what it did not hear of, it had given up on.
    assertThat(failed)
        .as("failed, %s", this)
        .isBetween(failedRuns - further() - forgotten, failedRuns);
    // Each run is an attempt, and what Redis has an answer of has run.
    assertThat(runs)
        .as("runs, %s", this)
        .isBetween(done + failed, done + failed + further() + forgotten);
    // A further run that no worker asked for is one that Redis has counted.
    assertThat(furtherUnasked)
        .as("further runs, %s", this)
        .isLessThanOrEqualTo(further() + forgotten);
    // The metric counts nothing that Redis does not have. It has less: what a scheduler counted
    // in its last moments went with it, and what it did not hear of, it does not count.
    compare(whole, "failed", metric("failed"), failed);
    compare(
        whole,
        "unknown",
        metric("answer_lost") + metric("time_over") + metric("scheduler_stopped"),
        unknown);
    compare(whole, "expired", metric("lease_expired"), expired);
  }

  private void compare(boolean whole, String what, int counted, int kept) {
    if (whole) {
      assertThat(counted).as("metric of %s, %s", what, this).isEqualTo(kept);
    } else {
      assertThat(counted).as("metric of %s, %s", what, this).isLessThanOrEqualTo(kept + forgotten);
    }
  }

  private int metric(String cause) {
    return metric.getOrDefault(cause, 0);
  }

  @Override
  public String toString() {
    return "runs %d, jobs done %d, runs that failed %d, further runs that no worker asked for %d; metric %s"
        .formatted(runs, doneJobs, failedRuns, furtherUnasked, metric);
  }
}
