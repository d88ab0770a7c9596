package io.punctual.server.api;

import io.punctual.ErrorCode;
import io.punctual.Limits;
import io.punctual.core.engine.Submit;
import io.punctual.core.queue.QueueName;
import io.punctual.server.web.ApiException;
import java.net.URI;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What calls about jobs take and answer in common. */
final class JobAnswers {

  private JobAnswers() {}

  /** A job that is with us. A type of its own, since its names are encoded only once. */
  record Accepted(
      String application,
      String taskType,
      String taskId,
      String outcome,
      String dueAt,
      long delayTime) {}

  /** The answer to a submit. */
  static Accepted accepted(JobInput input, Submit submit) {
    return new Accepted(
        input.application(),
        input.job().taskType(),
        input.job().taskId(),
        word(input, submit),
        Instant.ofEpochMilli(submit.dueAt()).toString(),
        submit.dueAt());
  }

  /** What became of a submit, in a word; throws where the job is not with us. */
  static String word(JobInput input, Submit submit) {
    return switch (submit.kind()) {
      case CREATED -> "created";
      case THERE -> "already_there";
      case DONE -> "already_done";
      case REPLACED -> "replaced";
      case CONFLICT ->
          throw conflict(
              input,
              "it differs in "
                  + String.join(", ", submit.differing())
                  + ". Choose another id, or replace it over HTTP with ?onConflict=replace",
              submit.differing());
      case CONFLICT_DONE ->
          throw conflict(
              input,
              "it ran at "
                  + Instant.ofEpochMilli(submit.dueAt())
                  + ". Choose another id, or use it again over HTTP with ?onConflict=replace",
              List.of());
      case IN_DELIVERY -> throw inDelivery(submit.attempt(), "replaced");
    };
  }

  private static ApiException conflict(JobInput input, String how, List<String> differing) {
    String taskId = input.job().taskId();
    return ApiException.of(
        ErrorCode.CONFLICT,
        "another job has the id " + taskId + "; " + how,
        Map.of("taskId", taskId, "differing", differing));
  }

  static Map<String, Object> outcome(QueueName queue, String taskId, String outcome) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("application", queue.application());
    body.put("taskType", queue.taskType());
    body.put("taskId", taskId);
    body.put("outcome", outcome);
    return body;
  }

  static ApiException inDelivery(int attempt, String what) {
    return wrongState(
        "reserved", "a worker has it as attempt " + attempt + "; it cannot be " + what, attempt);
  }

  static ApiException wrongState(String state, String detail, int attempt) {
    return ApiException.of(
        ErrorCode.WRONG_STATE,
        "the job is " + state + ": " + detail,
        attempt == 0 ? Map.of("state", state) : Map.of("state", state, "attempt", attempt));
  }

  static URI location(JobInput input) {
    return URI.create("/api/v1/jobs/" + input.queue() + "/" + input.job().taskId());
  }

  static boolean replace(@Nullable String onConflict) {
    if (onConflict != null && !onConflict.equals("replace")) {
      throw ApiException.invalid("onConflict", "must be replace, or not be given");
    }
    return onConflict != null;
  }

  static QueueName queue(String application, String taskType) {
    return new QueueName(checked("application", application), checked("taskType", taskType));
  }

  static String id(String taskId) {
    return checked("taskId", taskId);
  }

  static String checked(String field, String value) {
    if (!Limits.isName(value)) {
      throw ApiException.invalid(field, Limits.NAME_RULE);
    }
    return value;
  }

  static ApiException unknown(QueueName queue, String taskId) {
    return ApiException.of(
        ErrorCode.NOT_FOUND,
        "no job " + taskId + " is known in " + queue + "; it never was, or is long gone");
  }
}
