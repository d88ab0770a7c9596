package io.punctual.server.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.punctual.ErrorCode;
import io.punctual.Limits;
import io.punctual.core.Submit;
import io.punctual.core.job.QueueName;
import io.punctual.server.web.ApiException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What calls about jobs take and answer in common. */
final class JobAnswers {

  private JobAnswers() {}

  /**
   * A job that was accepted. A type of its own, since its names are encoded only once.
   *
   * @param served false where nobody is known that would run the job; absent otherwise
   * @param hint why not
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Accepted(
      String application,
      String taskType,
      String taskId,
      String outcome,
      String dueAt,
      long delayTime,
      @Nullable Long version,
      @Nullable Boolean served,
      @Nullable String hint) {}

  /**
   * The answer to a submit.
   *
   * @param remembered how long a finished id is
   * @param unserved why nobody is known that would run the job; null if somebody is
   */
  static Accepted accepted(
      JobInput input, Submit submit, Duration remembered, @Nullable String unserved) {
    return new Accepted(
        input.application(),
        input.job().taskType(),
        input.job().taskId(),
        word(input, submit, remembered),
        Instant.ofEpochMilli(submit.dueAt()).toString(),
        submit.dueAt(),
        version(submit),
        unserved == null ? null : Boolean.FALSE,
        unserved);
  }

  /** The number of the last change of the job that is there; null where none is. */
  static @Nullable Long version(Submit submit) {
    return submit.version() == null ? null : Long.valueOf(submit.version().number());
  }

  /** What became of a submit, in a word; throws where the job is not with us. */
  static String word(JobInput input, Submit submit, Duration remembered) {
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
              ran(submit.dueAt(), remembered)
                  + ". Choose another id, or replace it over HTTP with ?onConflict=replace",
              List.of());
      case IN_DELIVERY -> throw inDelivery(submit.attempt(), "replaced");
    };
  }

  /** What stands in the way of another job with the id of one that ran. */
  static String ran(long at, Duration remembered) {
    Instant ran = Instant.ofEpochMilli(at);
    return "it ran at " + ran + ", and its id is remembered until " + ran.plus(remembered);
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
