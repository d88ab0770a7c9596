package io.punctual.client.submit;

import io.punctual.ErrorCode;
import io.punctual.InvalidJobException;
import io.punctual.JobConflictException;
import io.punctual.PunctualException;
import io.punctual.SchedulerUnavailableException;
import io.punctual.client.json.JsonObject;
import java.time.Duration;

/** Converts the errors of schedulers to our exceptions. */
public final class SchedulerErrors {

  private SchedulerErrors() {}

  /** The exception for an answer that is no success. */
  public static PunctualException of(SchedulerCalls.Answer answer) {
    return of(answer.status(), answer.body());
  }

  static PunctualException of(int status, JsonObject problem) {
    String detail = problem.text("detail", "the scheduler answered HTTP " + status);
    return switch (problem.text("code", "")) {
      case "invalid" -> new InvalidJobException(detail);
      case "too-large" -> new InvalidJobException(ErrorCode.TOO_LARGE, detail);
      // A job that cannot be replaced, since a worker has it, is in conflict as well.
      case "conflict", "wrong-state" ->
          new JobConflictException(detail, problem.texts("differing"));
      case "unavailable" ->
          new SchedulerUnavailableException(
              detail, Duration.ofSeconds(2), new IllegalStateException("HTTP " + status));
      case "unauthenticated" ->
          new PunctualException(
              ErrorCode.UNAUTHENTICATED, detail + "; set punctual.token to one that lives");
      case "forbidden" -> new PunctualException(ErrorCode.FORBIDDEN, detail);
      default -> new PunctualException(ErrorCode.INTERNAL, detail);
    };
  }
}
