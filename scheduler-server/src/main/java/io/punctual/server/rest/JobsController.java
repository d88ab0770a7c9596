package io.punctual.server.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.punctual.ErrorCode;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.query.JobView;
import io.punctual.server.input.Body;
import io.punctual.server.input.ConflictFields;
import io.punctual.server.input.EntityTag;
import io.punctual.server.input.JobFields;
import io.punctual.server.input.Query;
import io.punctual.server.input.RequestBinding;
import io.punctual.server.jobs.JobRef;
import io.punctual.server.jobs.JobResult;
import io.punctual.server.jobs.JobService;
import io.punctual.server.jobs.NewJob;
import io.punctual.server.jobs.Submitted;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import io.punctual.server.web.Problems;
import io.punctual.server.web.StoreHeaders;
import io.punctual.wire.Limits;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Single jobs and batches: submit, find, cancel, revise, restore, run now, requeue. */
@RestController
@RequestMapping("/api/v1/jobs")
class JobsController {

  private static final String JOB = "/{application}/{taskType}/{taskId}";

  private static final String MINIMAL = "return=minimal";

  private final JobService jobs;

  JobsController(JobService jobs) {
    this.jobs = jobs;
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping
  ResponseEntity<JobAnswer> submit(
      @Body JobRequest request,
      @Query ConflictRequest conflict,
      @RequestHeader(value = "Idempotency-Key", required = false) @Nullable String key,
      @RequestHeader(value = "traceparent", required = false) @Nullable String traceparent) {
    ConflictFields rule = conflict.fields();
    IdempotencyKey idempotency = IdempotencyKey.of(key);
    NewJob job = request.job(idempotency, rule).traced(traceparent);
    Submitted submitted = jobs.submit(job);
    idempotency.check(submitted);
    Submitted.Accepted accepted = accepted(submitted);
    ResponseEntity.BodyBuilder response =
        accepted.outcome() == Submitted.Outcome.CREATED
            ? ResponseEntity.created(URI.create("/api/v1/jobs/" + job.ref()))
            : ResponseEntity.ok();
    JobVersion version = accepted.version();
    if (version != null) {
      response.eTag(EntityTag.of(version));
    }
    return response.body(JobAnswer.of(accepted, jobs.notice(job.queue())));
  }

  /** What to do if a job of the id is there; durations are ms, or texts such as 30s. */
  record ConflictRequest(
      @Nullable String onConflict,
      @Nullable String quiet,
      @Nullable String atMost,
      @Nullable String keep,
      @Nullable String whileRunning) {

    private ConflictFields fields() {
      ConflictFields fields =
          new ConflictFields(
              onConflict,
              JobFields.duration("quiet", quiet, Duration.ZERO, JobFields.MAX_DELAY),
              JobFields.duration("atMost", atMost, Duration.ZERO, JobFields.MAX_DELAY),
              keep,
              whileRunning);
      // Before the jobs of a batch, which all have the same.
      var unused = fields.read();
      return fields;
    }
  }

  /** Returns what became of a job that the scheduler has. */
  private static Submitted.Accepted accepted(Submitted submitted) {
    return switch (submitted) {
      case Submitted.Accepted accepted -> {
        StoreHeaders.add(accepted.reached());
        yield accepted;
      }
      case Submitted.Conflict conflict -> {
        String taskId = conflict.job().job().taskId();
        throw ApiException.of(
            ErrorCode.CONFLICT,
            "another job has the id "
                + taskId
                + "; "
                + conflict.reason()
                + ". Choose another id, or replace it: onConflict=replace over HTTP, replace() in"
                + " Java",
            Map.of("taskId", taskId, "differing", conflict.differing()));
      }
      case Submitted.InDelivery taken -> throw JobResult.inDelivery(taken.attempt(), "replaced");
      case Submitted.Refused refused -> throw refused.problem();
    };
  }

  record BatchAnswer(List<BatchResult> results) {}

  /** The answer that the submit of one job would have had, or its problem. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record BatchResult(
      int status, @JsonUnwrapped JobAnswer job, @Nullable Map<String, Object> problem) {}

  /** Submits each job on its own: a bad one, or one in conflict, has an error in its place. */
  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/batch")
  ResponseEntity<BatchAnswer> submitMany(
      @Body(batch = true) ObjectNode batch,
      @Query ConflictRequest conflict,
      @RequestHeader(value = "Prefer", required = false) @Nullable String prefer) {
    boolean minimal = isMinimal(prefer);
    ConflictFields rule = conflict.fields();
    JsonNode given = jobs(batch);
    List<Supplier<NewJob>> read = new ArrayList<>(given.size());
    for (JsonNode job : given) {
      String path = "jobs[" + read.size() + "]";
      read.add(() -> job(job, path, rule));
    }
    // All jobs of a batch have a few task types.
    Map<QueueName, Optional<JobService.Notice>> notices = new HashMap<>();
    BatchAnswer answer =
        new BatchAnswer(
            jobs.submitAll(read).stream()
                .map(submitted -> result(submitted, minimal, notices))
                .toList());
    ResponseEntity.BodyBuilder response = ResponseEntity.ok();
    return (minimal ? response.header("Preference-Applied", MINIMAL) : response).body(answer);
  }

  /** Returns the jobs of a batch as they came: each is bound on its own. */
  private static JsonNode jobs(ObjectNode batch) {
    for (String field : batch.propertyNames()) {
      if (!field.equals("jobs")) {
        throw RequestBinding.unknown(field, List.of("jobs"));
      }
    }
    JsonNode jobs = batch.path("jobs");
    if (!jobs.isArray() || jobs.isEmpty() || jobs.size() > Limits.MAX_BATCH) {
      throw ApiException.invalid("jobs", "must be a list of 1 to " + Limits.MAX_BATCH + " jobs");
    }
    return jobs;
  }

  /** Whether the caller wants nothing that it knows already (RFC 7240). */
  private static boolean isMinimal(@Nullable String prefer) {
    // The first one counts.
    return prefer != null
        && Arrays.stream(prefer.split(",", -1))
            .map(preference -> preference.strip().toLowerCase(Locale.ROOT))
            .filter(preference -> preference.startsWith("return="))
            .findFirst()
            .filter(MINIMAL::equals)
            .isPresent();
  }

  private static NewJob job(JsonNode json, String path, ConflictFields rule) {
    JobRequest request = RequestBinding.bind(json, JobRequest.class, path);
    try {
      return request.job(IdempotencyKey.of(null), rule);
    } catch (ApiException e) {
      throw e.within(path);
    }
  }

  private BatchResult result(
      Submitted submitted, boolean minimal, Map<QueueName, Optional<JobService.Notice>> notices) {
    try {
      Submitted.Accepted accepted = accepted(submitted);
      int status = accepted.outcome() == Submitted.Outcome.CREATED ? 201 : 200;
      if (minimal) {
        return new BatchResult(status, JobAnswer.minimal(accepted), null);
      }
      JobService.Notice notice =
          notices
              .computeIfAbsent(
                  accepted.job().queue(), queue -> Optional.ofNullable(jobs.notice(queue)))
              .orElse(null);
      return new BatchResult(status, JobAnswer.of(accepted, notice), null);
    } catch (ApiException e) {
      NewJob job = submitted.job();
      return new BatchResult(
          e.status(), JobAnswer.of(job == null ? null : job.job().taskId()), Problems.document(e));
    }
  }

  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping(JOB)
  ResponseEntity<JobResponse> find(JobRef job) {
    JobView found = jobs.find(job);
    return ResponseEntity.ok().eTag(EntityTag.of(found)).body(JobResponse.of(found));
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @DeleteMapping(JOB)
  ResponseEntity<JobAnswer> cancel(
      JobRef job,
      @RequestParam(required = false) @Nullable String running,
      @RequestHeader(value = "If-Match", required = false) @Nullable String ifMatch) {
    return changed(jobs.cancel(job, EntityTag.versions(ifMatch), interrupts(running)));
  }

  private static boolean interrupts(@Nullable String running) {
    if (running != null && !running.equals("interrupt") && !running.equals("leave")) {
      throw ApiException.invalid(
          "running", "must be leave or interrupt, or be absent, which means leave");
    }
    return "interrupt".equals(running);
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PatchMapping(JOB)
  ResponseEntity<JobAnswer> revise(
      JobRef job,
      @RequestHeader(value = "If-Match", required = false) @Nullable String ifMatch,
      @Body JobRequest request) {
    return changed(jobs.revise(job, request.change(), EntityTag.versions(ifMatch)));
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping(JOB + "/run")
  ResponseEntity<JobAnswer> runNow(
      JobRef job, @RequestHeader(value = "If-Match", required = false) @Nullable String ifMatch) {
    return changed(jobs.run(job, EntityTag.versions(ifMatch)));
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping(JOB + "/restore")
  ResponseEntity<JobAnswer> restore(JobRef job) {
    return changed(jobs.restore(job));
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping(JOB + "/requeue")
  ResponseEntity<JobAnswer> requeue(
      JobRef job, @RequestHeader(value = "If-Match", required = false) @Nullable String ifMatch) {
    return changed(jobs.requeue(job, EntityTag.versions(ifMatch)));
  }

  private static ResponseEntity<JobAnswer> changed(JobResult result) {
    JobResult.Done done = result.orThrow();
    // That it is cancelled is not certain yet where an attempt is told to stop.
    ResponseEntity.BodyBuilder response =
        done.attempt() > 0 ? ResponseEntity.accepted() : ResponseEntity.ok();
    JobVersion version = done.version();
    if (version != null) {
      response.eTag(EntityTag.of(version));
    }
    return response.body(JobAnswer.of(done));
  }
}
