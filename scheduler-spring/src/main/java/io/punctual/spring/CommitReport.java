package io.punctual.spring;

import io.punctual.PunctualException;
import io.punctual.SchedulerUnavailableException;
import io.punctual.spring.CommitFailures.Call;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/** Logs and counts what fails behind a commit, since no caller is left to be told. */
final class CommitReport {

  private static final Logger log = LoggerFactory.getLogger(CommitReport.class);

  private final CommitFailures failures;

  CommitReport(CommitFailures failures) {
    this.failures = failures;
  }

  /** A call was made, or given up, and failed. */
  void failed(DeferredCall call, Throwable error) {
    boolean again = error instanceof PunctualException known && known.isTransient();
    LoggingEventBuilder line = loud(call);
    if (!again) {
      line = line.setCause(error);
    }
    line.log(
        "The transaction committed, but the {} of {} that was to follow FAILED: {} {}",
        call.kind(),
        call.target(),
        sentence(error),
        cure(call, again, error));
    failures.failed(call.kind(), error);
  }

  private static String sentence(Throwable error) {
    String message = String.valueOf(error.getMessage());
    return message.endsWith(".") ? message : message + ".";
  }

  private static String cure(DeferredCall call, boolean again, Throwable error) {
    if (call.kind() != Call.SEND) {
      return again
          ? "Make the call again; it does no harm if it did arrive."
          : "Nothing was changed. Correct the call as the error says, then make it again.";
    } else if (!again) {
      return "The job does not exist. Correct it as the error says, then send it again.";
    }
    return error instanceof SchedulerUnavailableException away && !away.mayHaveTakenEffect()
        ? "The job does not exist: send it again."
        : "The job may not exist: send it again with this id. If it did arrive, that is no second one,"
            + " unless it is done for longer than punctual.tombstones (10 minutes).";
  }

  /** Nobody knows whether the transaction committed, so its calls were not made. */
  void undecided(List<DeferredCall> calls) {
    for (DeferredCall call : calls) {
      loud(call)
          .log(
              "It is not known whether the transaction committed, so the {} of {} was NOT MADE. Look"
                  + " at the data, and if it is there, make the call.",
              call.kind(),
              call.target());
      failures.failed(call.kind(), null);
    }
  }

  private static LoggingEventBuilder loud(DeferredCall call) {
    LoggingEventBuilder line = log.atError();
    return call instanceof DeferredCall.Send send
        ? line.addKeyValue("punctual.task.type", send.job().taskType())
            .addKeyValue("punctual.task.id", send.job().taskId())
        : line;
  }
}
