package io.punctual.server.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.punctual.Limits;
import io.punctual.core.JobView;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.QueueName;
import io.punctual.server.jobs.JobRef;
import io.punctual.server.jobs.JobService;
import io.punctual.server.jobs.NewJob;
import io.punctual.server.jobs.Submitted;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import io.punctual.server.web.DurabilityHeader;
import io.punctual.server.web.EntityTag;
import io.punctual.server.web.JsonBody;
import io.punctual.server.web.JsonFields;
import io.punctual.server.web.Problems;
import io.punctual.server.web.WebProperties;
import jakarta.servlet.http.HttpServletRequest;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.JsonNode;

/** Single jobs and batches: submit, find, cancel, revise, run now, requeue. */
@RestController
@RequestMapping("/api/v1/jobs")
class JobsController {

  private static final String JOB = "/{application}/{taskType}/{taskId}";

  private final JobService jobs;
  private final WebProperties.Api bounds;

  JobsController(JobService jobs, WebProperties properties) {
    this.jobs = jobs;
    this.bounds = properties.api();
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping
  ResponseEntity<JobAnswers.Accepted> submit(
      HttpServletRequest request,
      @RequestParam(required = false) @Nullable String onConflict,
      @RequestHeader(value = "Idempotency-Key", required = false) @Nullable String key) {
    boolean replace = JobAnswers.replace(onConflict);
    IdempotencyKey idempotency = IdempotencyKey.of(key);
    NewJob job =
        JobInput.traced(
            JobInput.read(JsonBody.read(request, bounds.maxBody().toBytes()), idempotency::taskId),
            request.getHeader("traceparent"));
    Submitted submitted = jobs.submit(job, replace);
    idempotency.check(submitted);
    Submitted.Accepted accepted = JobAnswers.require(submitted);
    DurabilityHeader.add(accepted.reached());
    ResponseEntity.BodyBuilder response =
        accepted.outcome() == Submitted.Outcome.CREATED
            ? ResponseEntity.created(URI.create("/api/v1/jobs/" + job.ref()))
            : ResponseEntity.ok();
    JobVersion version = accepted.version();
    if (version != null) {
      response.eTag(EntityTag.of(version));
    }
    return response.body(JobAnswers.accepted(accepted, jobs.unserved(job.queue())));
  }

  /** Submits each job on its own: a bad one, or one in conflict, has an error in its place. */
  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/batch")
  ResponseEntity<BatchAnswer> submitMany(
      HttpServletRequest request,
      @RequestParam(required = false) @Nullable String onConflict,
      @RequestHeader(value = Preference.HEADER, required = false) @Nullable String prefer) {
    boolean minimal = Preference.isMinimal(prefer);
    boolean replace = JobAnswers.replace(onConflict);
    JsonFields envelope = JsonBody.read(request, bounds.maxBatchBody().toBytes());
    JsonNode given = envelope.get("jobs");
    envelope.noMore();
    if (given == null || !given.isArray() || given.isEmpty() || given.size() > Limits.MAX_BATCH) {
      throw ApiException.invalid("jobs", "must be a list of 1 to " + Limits.MAX_BATCH + " jobs");
    }
    List<Supplier<NewJob>> read = new ArrayList<>(given.size());
    for (int i = 0; i < given.size(); i++) {
      JsonNode job = given.get(i);
      String path = "jobs[" + i + "].";
      read.add(() -> JobInput.read(JsonFields.of(job, path)));
    }
    // All jobs of a batch have a few task types.
    Map<QueueName, Optional<String>> unserved = new HashMap<>();
    BatchAnswer answer =
        new BatchAnswer(
            jobs.submitAll(read, replace).stream()
                .map(submitted -> result(submitted, minimal, unserved))
                .toList());
    ResponseEntity.BodyBuilder response = ResponseEntity.ok();
    return (minimal ? response.header(Preference.APPLIED, Preference.MINIMAL) : response)
        .body(answer);
  }

  private BatchResult result(
      Submitted submitted, boolean minimal, Map<QueueName, Optional<String>> unserved) {
    try {
      Submitted.Accepted accepted = JobAnswers.require(submitted);
      DurabilityHeader.add(accepted.reached());
      if (minimal) {
        return BatchResult.minimal(accepted);
      }
      String hint =
          unserved
              .computeIfAbsent(
                  accepted.job().queue(), queue -> Optional.ofNullable(jobs.unserved(queue)))
              .orElse(null);
      return BatchResult.of(status(accepted), JobAnswers.accepted(accepted, hint));
    } catch (ApiException e) {
      NewJob job = submitted.job();
      return BatchResult.of(job == null ? null : job.job().taskId(), e);
    }
  }

  private static int status(Submitted.Accepted accepted) {
    return accepted.outcome() == Submitted.Outcome.CREATED ? 201 : 200;
  }

  record BatchAnswer(List<BatchResult> results) {}

  /** The answer that the submit of one job would have had, or its problem. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record BatchResult(
      @Nullable String taskId,
      int status,
      @Nullable String application,
      @Nullable String taskType,
      @Nullable String outcome,
      @Nullable String dueAt,
      @Nullable Long delayTime,
      @Nullable Long version,
      @Nullable Boolean served,
      @Nullable String hint,
      @Nullable Map<String, Object> problem) {

    static BatchResult of(int status, JobAnswers.Accepted job) {
      return new BatchResult(
          job.taskId(),
          status,
          job.application(),
          job.taskType(),
          job.outcome(),
          job.dueAt(),
          job.delayTime(),
          job.version(),
          job.served(),
          job.hint(),
          null);
    }

    /** Omits fields that the client sent itself, and the version where it is 1, as of most. */
    static BatchResult minimal(Submitted.Accepted job) {
      Long version = job.number();
      return new BatchResult(
          job.job().named() ? null : job.job().job().taskId(),
          JobsController.status(job),
          null,
          null,
          JobService.text(job.outcome()),
          null,
          job.dueAt(),
          version == null || version == 1 ? null : version,
          null,
          null,
          null);
    }

    static BatchResult of(@Nullable String taskId, ApiException problem) {
      return new BatchResult(
          taskId,
          problem.status(),
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          Problems.document(problem));
    }
  }

  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping(JOB)
  ResponseEntity<Map<String, Object>> find(
      @PathVariable String application,
      @PathVariable String taskType,
      @PathVariable String taskId) {
    JobView job = jobs.find(JobRef.of(application, taskType, taskId));
    return ResponseEntity.ok().eTag(EntityTag.of(job)).body(JobOutput.of(job));
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @DeleteMapping(JOB)
  ResponseEntity<Map<String, Object>> cancel(
      @PathVariable String application,
      @PathVariable String taskType,
      @PathVariable String taskId,
      @RequestHeader(value = "If-Match", required = false) @Nullable String ifMatch) {
    return JobAnswers.changed(
        jobs.cancel(JobRef.of(application, taskType, taskId), EntityTag.versions(ifMatch)));
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PatchMapping(JOB)
  ResponseEntity<Map<String, Object>> revise(
      @PathVariable String application,
      @PathVariable String taskType,
      @PathVariable String taskId,
      @RequestHeader(value = "If-Match", required = false) @Nullable String ifMatch,
      HttpServletRequest request) {
    JsonFields fields = JsonBody.read(request, bounds.maxBody().toBytes());
    JobRef job = JobRef.of(application, taskType, taskId);
    return JobAnswers.changed(
        jobs.revise(job, JobInput.change(fields), EntityTag.versions(ifMatch)));
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping(JOB + "/run")
  ResponseEntity<Map<String, Object>> runNow(
      @PathVariable String application,
      @PathVariable String taskType,
      @PathVariable String taskId,
      @RequestHeader(value = "If-Match", required = false) @Nullable String ifMatch) {
    return JobAnswers.changed(
        jobs.run(JobRef.of(application, taskType, taskId), EntityTag.versions(ifMatch)));
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping(JOB + "/requeue")
  ResponseEntity<Map<String, Object>> requeue(
      @PathVariable String application,
      @PathVariable String taskType,
      @PathVariable String taskId,
      @RequestHeader(value = "If-Match", required = false) @Nullable String ifMatch) {
    return JobAnswers.changed(
        jobs.requeue(JobRef.of(application, taskType, taskId), EntityTag.versions(ifMatch)));
  }
}
