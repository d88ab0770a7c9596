package io.punctual.server.jobs;

import io.punctual.ErrorCode;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.server.problem.ApiException;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The result of a change to one job. */
public sealed interface JobResult {

  /**
   * The job was changed.
   *
   * @param outcome for instance {@code cancelled}
   * @param attempt which is told to stop; 0 where none is
   * @param dueAt the new due time, epoch ms; null where the change has none
   * @param number of the change; 0 where the job has none
   * @param version null where nothing is left to be changed
   */
  record Done(
      JobRef job,
      String outcome,
      int attempt,
      @Nullable Long dueAt,
      long number,
      @Nullable JobVersion version)
      implements JobResult {}

  /** No such job is known. */
  record Unknown(JobRef job) implements JobResult {}

  /** The job is not the version that the caller has seen. */
  record Changed() implements JobResult {}

  /**
   * The job's state does not allow the change.
   *
   * @param attempt which has the job; 0 where none has it
   * @param reason the state's meaning for this change
   */
  record WrongState(JobState state, int attempt, String reason) implements JobResult {

    static WrongState inDelivery(int attempt, String change) {
      return new WrongState(
          JobState.RESERVED,
          attempt,
          "a worker has it as attempt " + attempt + "; it cannot be " + change);
    }
  }

  /**
   * Returns the change.
   *
   * @throws ApiException 404, 409 or 412 if there was none
   */
  default Done orThrow() {
    return switch (this) {
      case Done done -> done;
      case Unknown unknown -> throw unknown(unknown.job());
      case WrongState wrong -> throw wrongState(wrong.state(), wrong.reason(), wrong.attempt());
      case Changed changed ->
          throw ApiException.of(
              ErrorCode.CHANGED,
              "the job has changed since it was read, and nothing was done: read it again, and"
                  + " decide anew");
    };
  }

  /** Returns the error for a job that is not known. */
  static ApiException unknown(JobRef job) {
    return ApiException.of(
        ErrorCode.NOT_FOUND,
        "no job "
            + job.taskId()
            + " is known in "
            + job.queue()
            + "; it never was, or is long gone");
  }

  /** Returns the error for a change to a job that a worker has. */
  static ApiException inDelivery(int attempt, String change) {
    WrongState wrong = WrongState.inDelivery(attempt, change);
    return wrongState(wrong.state(), wrong.reason(), attempt);
  }

  /** Returns the error for a change that the job's state does not allow. */
  static ApiException wrongState(JobState state, String reason, int attempt) {
    String name = state.name().toLowerCase(Locale.ROOT);
    return ApiException.of(
        ErrorCode.WRONG_STATE,
        "the job is " + name + ": " + reason,
        attempt == 0 ? Map.of("state", name) : Map.of("state", name, "attempt", attempt));
  }
}
