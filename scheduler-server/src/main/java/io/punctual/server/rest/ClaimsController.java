package io.punctual.server.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.punctual.core.ClaimToken;
import io.punctual.core.Claims;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.server.input.Body;
import io.punctual.server.input.JobFields;
import io.punctual.server.jobs.ClaimService;
import io.punctual.server.jobs.LongPolls;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import io.punctual.server.web.RequestGuard;
import io.punctual.wire.Limits;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;

/** Fetches jobs that are due, and settles them. */
@RestController
@RequestMapping("/api/v1")
class ClaimsController {

  private final ClaimService claims;

  ClaimsController(ClaimService claims) {
    this.claims = claims;
  }

  record Claim(
      String application,
      List<String> taskTypes,
      @Nullable Integer max,
      @JsonProperty("wait") @Nullable Duration patience,
      @Nullable Duration timeToRun,
      @Nullable String worker) {

    Claim {
      application = JobFields.application(application);
      taskTypes = JobFields.names("taskTypes", taskTypes);
      max = JobFields.integer("max", max, 1, 1, JobStore.MAX_JOBS);
      patience = JobFields.within("wait", patience, Duration.ZERO, LongPolls.MAX_WAIT);
      timeToRun = JobFields.timeToRun(timeToRun);
      if (taskTypes.isEmpty() || taskTypes.size() > ClaimService.MAX_TASK_TYPES) {
        throw ApiException.invalid(
            "taskTypes", "must be a list of 1 to " + ClaimService.MAX_TASK_TYPES + " task types");
      }
    }

    private PullRequest pull(HttpServletRequest request) {
      return new PullRequest(
          taskTypes.stream().map(type -> new QueueName(application, type)).toList(),
          Objects.requireNonNullElse(max, 1),
          Objects.requireNonNullElse(patience, Duration.ZERO),
          timeToRun,
          JobFields.worker(worker, request));
    }
  }

  record Claimed(List<ClaimedJob> jobs) {}

  /** A job that the caller has; times are epoch ms, times to run are ms. */
  record ClaimedJob(
      String application,
      String taskType,
      String taskId,
      String incarnation,
      int attempt,
      long version,
      long claimedAt,
      long dueTime,
      long lateSince,
      long timeToRun,
      Instant until,
      long jobTimeToRun,
      String params,
      Map<String, String> headers,
      List<String> tags,
      String token) {

    private static ClaimedJob of(PulledJob job) {
      return new ClaimedJob(
          job.token().queue().application(),
          job.token().queue().taskType(),
          job.token().taskId(),
          job.token().incarnation(),
          job.attempt(),
          job.version(),
          job.until() - job.timeToRun(),
          job.dueTime(),
          job.lateSince(),
          job.timeToRun(),
          Instant.ofEpochMilli(job.until()),
          Objects.requireNonNullElse(job.content().timeToRun(), Limits.DEFAULT_TIME_TO_RUN)
              .toMillis(),
          job.content().params(),
          job.content().headers(),
          job.content().tags(),
          job.token().text());
    }
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims")
  DeferredResult<ResponseEntity<?>> claim(@Body Claim claim, HttpServletRequest request) {
    return claims.claim(
        claim.pull(request),
        () -> RequestGuard.closed(request),
        jobs -> new Claimed(jobs.stream().map(ClaimedJob::of).toList()),
        ClaimsController::nothing);
  }

  private static ResponseEntity<?> nothing(ClaimService.NoJobs none) {
    ResponseEntity.HeadersBuilder<?> nothing = ResponseEntity.noContent();
    name(nothing, "Punctual-Paused", none.paused());
    name(nothing, "Punctual-Damaged", none.damaged());
    return nothing.build();
  }

  private static void name(
      ResponseEntity.HeadersBuilder<?> answer, String header, List<QueueName> queues) {
    String names = queues.stream().map(QueueName::taskType).collect(Collectors.joining(","));
    if (!names.isEmpty()) {
      answer.header(header, names);
    }
  }

  record Leave(String application, String worker) {

    Leave {
      application = JobFields.application(application);
      if (worker == null) {
        throw ApiException.invalid(
            "worker", "is missing: give the name with which the worker claims");
      }
      worker = JobFields.worker(worker);
    }
  }

  record Left(int ended) {}

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims:leave")
  DeferredResult<Left> leave(@Body Leave leave) {
    DeferredResult<Left> result = new DeferredResult<>();
    var unused =
        claims
            .leave(leave.application(), leave.worker())
            .thenAccept(ended -> result.setResult(new Left(ended)));
    return result;
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims/{token}/ack")
  JobAnswer ack(@PathVariable String token) {
    return JobAnswer.of(claims.done(ClaimService.token(token)));
  }

  record Nack(@Nullable Duration delay, @Nullable String error, @Nullable String worker) {

    Nack {
      delay = JobFields.within("delay", delay, Duration.ZERO, Limits.MAX_RETRY_DELAY);
    }
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims/{token}/nack")
  JobAnswer nack(
      @PathVariable String token, @Body(optional = true) Nack nack, HttpServletRequest request) {
    return JobAnswer.of(
        claims.failed(
            ClaimService.token(token),
            reportingWorker(nack.worker(), request),
            Objects.requireNonNullElse(nack.error(), ""),
            nack.delay()));
  }

  private static ClaimService.ReportingWorker reportingWorker(
      @Nullable String worker, HttpServletRequest request) {
    return new ClaimService.ReportingWorker(
        worker == null ? null : JobFields.worker(worker), JobFields.address(request));
  }

  record Reject(@Nullable String error, @Nullable String worker) {}

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims/{token}/reject")
  JobAnswer reject(
      @PathVariable String token,
      @Body(optional = true) Reject reject,
      HttpServletRequest request) {
    return JobAnswer.of(
        claims.rejected(
            ClaimService.token(token),
            reportingWorker(reject.worker(), request),
            Objects.requireNonNullElse(reject.error(), "")));
  }

  record Release(@Nullable Duration delay) {

    Release {
      delay = JobFields.within("delay", delay, Duration.ZERO, Limits.MAX_RETRY_DELAY);
    }
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims/{token}/release")
  JobAnswer release(@PathVariable String token, @Body(optional = true) Release release) {
    return JobAnswer.of(claims.release(ClaimService.token(token), release.delay()));
  }

  record Extend(@Nullable Duration timeToRun) {

    Extend {
      timeToRun =
          JobFields.within("timeToRun", timeToRun, Limits.MIN_TIME_TO_RUN, Limits.MAX_DEFERRAL);
    }
  }

  /**
   * A lease that was extended.
   *
   * @param cancelling true where the attempt is to stop; absent otherwise
   */
  record Extended(
      String outcome,
      Instant until,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Boolean cancelling) {}

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims/{token}/extend")
  Extended extend(@PathVariable String token, @Body(optional = true) Extend extend) {
    Claims.Extension extension = claims.extend(ClaimService.token(token), extend.timeToRun());
    return new Extended(
        "extended",
        Instant.ofEpochMilli(extension.until()),
        extension.cancelling() ? Boolean.TRUE : null);
  }

  record Check(List<String> tokens) {

    Check {
      if (tokens == null || tokens.isEmpty() || tokens.size() > JobStore.MAX_JOBS) {
        throw ApiException.invalid(
            "tokens", "must be a list of 1 to " + JobStore.MAX_JOBS + " tokens of claims");
      }
    }
  }

  /** The tokens among those asked for whose attempts are to stop, or that hold no job any more. */
  record Checked(List<String> cancelling, List<String> lost) {}

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims:check")
  Checked check(@Body Check check) {
    Claims.Checked found =
        claims.check(check.tokens().stream().distinct().map(ClaimService::token).toList());
    return new Checked(texts(found.cancelling()), texts(found.lost()));
  }

  private static List<String> texts(List<ClaimToken> tokens) {
    return tokens.stream().map(ClaimToken::text).toList();
  }
}
