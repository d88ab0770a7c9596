package io.punctual.server.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.punctual.ErrorCode;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.QueueName;
import io.punctual.server.jobs.JobResult;
import io.punctual.server.jobs.JobService;
import io.punctual.server.jobs.NewJob;
import io.punctual.server.jobs.Submitted;
import io.punctual.server.problem.ApiException;
import io.punctual.server.web.EntityTag;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;

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
   * @param unserved why no instance would run the job; null if one may
   */
  static Accepted accepted(Submitted.Accepted submitted, @Nullable String unserved) {
    NewJob job = submitted.job();
    return new Accepted(
        job.application(),
        job.job().taskType(),
        job.job().taskId(),
        JobService.text(submitted.outcome()),
        Instant.ofEpochMilli(submitted.dueAt()).toString(),
        submitted.dueAt(),
        submitted.number(),
        unserved == null ? null : Boolean.FALSE,
        unserved);
  }

  /**
   * Returns the job that the scheduler has.
   *
   * @throws ApiException if it does not have the job
   */
  static Submitted.Accepted require(Submitted submitted) {
    return switch (submitted) {
      case Submitted.Accepted accepted -> accepted;
      case Submitted.Conflict conflict -> {
        String taskId = conflict.job().job().taskId();
        throw ApiException.of(
            ErrorCode.CONFLICT,
            "another job has the id "
                + taskId
                + "; "
                + conflict.reason()
                + ". Choose another id, or replace it over HTTP with ?onConflict=replace",
            Map.of("taskId", taskId, "differing", conflict.differing()));
      }
      case Submitted.InDelivery taken -> throw JobResult.inDelivery(taken.attempt(), "replaced");
      case Submitted.Refused refused -> throw refused.problem();
    };
  }

  /**
   * The answer to a change of a job.
   *
   * @throws ApiException if there was none
   */
  static ResponseEntity<Map<String, Object>> changed(JobResult result) {
    JobResult.Done done = result.orThrow();
    QueueName queue = done.job().queue();
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("application", queue.application());
    body.put("taskType", queue.taskType());
    body.put("taskId", done.job().taskId());
    body.put("outcome", done.outcome());
    Long dueAt = done.dueAt();
    if (dueAt != null) {
      body.put("dueAt", Instant.ofEpochMilli(dueAt).toString());
      body.put("delayTime", dueAt);
    }
    if (done.number() > 0) {
      body.put("version", done.number());
    }
    ResponseEntity.BodyBuilder response = ResponseEntity.ok();
    JobVersion version = done.version();
    if (version != null) {
      response.eTag(EntityTag.of(version));
    }
    return response.body(body);
  }

  static boolean replace(@Nullable String onConflict) {
    if (onConflict != null && !onConflict.equals("replace")) {
      throw ApiException.invalid("onConflict", "must be replace, or not be given");
    }
    return onConflict != null;
  }
}
