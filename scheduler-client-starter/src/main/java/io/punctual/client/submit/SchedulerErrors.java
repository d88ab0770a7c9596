package io.punctual.client.submit;

import io.punctual.ErrorCode;
import io.punctual.InvalidJobException;
import io.punctual.JobConflictException;
import io.punctual.PunctualException;
import io.punctual.SchedulerUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** What schedulers refuse, in the terms of our exceptions. */
public final class SchedulerErrors {

  private SchedulerErrors() {}

  /** The exception for an answer that is no success. */
  public static PunctualException of(SchedulerCalls.Answer answer) {
    return of(answer.status(), answer.body());
  }

  static PunctualException of(int status, JsonNode problem) {
    String detail = text(problem, "detail", "the scheduler answered HTTP " + status);
    return switch (text(problem, "code", "")) {
      case "invalid", "too-large" -> new InvalidJobException(detail);
      case "conflict" -> {
        List<String> fields = new ArrayList<>();
        JsonNode differing = problem.get("differing");
        if (differing != null) {
          differing.forEach(field -> fields.add(field.stringValue()));
        }
        yield new JobConflictException(detail, fields);
      }
      case "unavailable" ->
          new SchedulerUnavailableException(
              detail, Duration.ofSeconds(2), new IllegalStateException("HTTP " + status));
      case "unauthenticated" ->
          new PunctualException(
              ErrorCode.UNAUTHENTICATED, detail + "; set punctual.client.token to one that lives");
      case "forbidden" -> new PunctualException(ErrorCode.FORBIDDEN, detail);
      default -> new PunctualException(ErrorCode.INTERNAL, detail);
    };
  }

  static String text(JsonNode node, String field, String otherwise) {
    JsonNode value = node.get(field);
    return value == null || !value.isString() ? otherwise : value.stringValue();
  }
}
