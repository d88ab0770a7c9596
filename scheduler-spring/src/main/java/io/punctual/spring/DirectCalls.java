package io.punctual.spring;

import io.punctual.spi.JobScheduler;
import java.util.List;

/** Makes calls at once, on the thread of the transaction: for tests, where nothing takes time. */
public final class DirectCalls implements CommittedCalls {

  private final JobScheduler scheduler;
  private final CommitReport report;

  /**
   * @param failures told of calls that fail
   */
  public DirectCalls(JobScheduler scheduler, CommitFailures failures) {
    this.scheduler = scheduler;
    this.report = new CommitReport(failures);
  }

  @Override
  public void make(List<DeferredCall> calls) {
    make(scheduler, report, calls);
  }

  static void make(JobScheduler scheduler, CommitReport report, List<DeferredCall> calls) {
    DeferredCalls.make(
        scheduler,
        calls,
        (index, result, error) -> {
          if (error != null) {
            report.failed(calls.get(index), error);
          }
        });
  }

  @Override
  public void undecided(List<DeferredCall> calls) {
    report.undecided(calls);
  }
}
