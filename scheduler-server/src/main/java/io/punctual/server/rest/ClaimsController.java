package io.punctual.server.rest;

import io.punctual.Limits;
import io.punctual.core.ClaimToken;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.server.jobs.ClaimService;
import io.punctual.server.jobs.LongPolls;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import io.punctual.server.web.JobFields;
import io.punctual.server.web.JsonBody;
import io.punctual.server.web.JsonFields;
import io.punctual.server.web.RequestGuard;
import io.punctual.server.web.WebProperties;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
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
  private final WebProperties.Api bounds;

  ClaimsController(ClaimService claims, WebProperties properties) {
    this.claims = claims;
    this.bounds = properties.api();
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims")
  DeferredResult<ResponseEntity<?>> claim(HttpServletRequest request) {
    JsonFields fields = JsonBody.read(request, bounds.maxBody().toBytes());
    String application = fields.application();
    List<String> taskTypes = fields.textList("taskTypes");
    int max = fields.integer("max", 1, 1, JobStore.MAX_JOBS);
    Duration wait = fields.duration("wait", Duration.ZERO, LongPolls.MAX_WAIT);
    Duration timeToRun =
        fields.duration("timeToRun", Limits.MIN_TIME_TO_RUN, Limits.MAX_TIME_TO_RUN);
    String worker = JobFields.worker(fields, request);
    fields.noMore();
    if (taskTypes.isEmpty() || taskTypes.size() > ClaimService.MAX_TASK_TYPES) {
      throw fields.error(
          "taskTypes", "must be a list of 1 to " + ClaimService.MAX_TASK_TYPES + " task types");
    }
    List<QueueName> queues =
        JobFields.names(fields, "taskTypes", taskTypes).stream()
            .map(type -> new QueueName(application, type))
            .toList();
    return claims.claim(
        new PullRequest(
            queues, max, Objects.requireNonNullElse(wait, Duration.ZERO), timeToRun, worker),
        () -> RequestGuard.closed(request),
        jobs -> Map.of("jobs", jobs.stream().map(ClaimsController::output).toList()),
        ClaimsController::nothing);
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims:leave")
  DeferredResult<Map<String, Object>> leave(HttpServletRequest request) {
    JsonFields fields = JsonBody.read(request, bounds.maxBody().toBytes());
    String application = fields.application();
    boolean named = fields.get("worker") != null;
    String worker = JobFields.worker(fields, request);
    fields.noMore();
    if (!named) {
      throw fields.error("worker", "is missing: give the name with which the worker claims");
    }
    DeferredResult<Map<String, Object>> result = new DeferredResult<>();
    var unused =
        claims.leave(application, worker).thenAccept(n -> result.setResult(Map.of("ended", n)));
    return result;
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

  private static Map<String, Object> output(PulledJob job) {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("application", job.token().queue().application());
    out.put("taskType", job.token().queue().taskType());
    out.put("taskId", job.token().taskId());
    out.put("incarnation", job.token().incarnation());
    out.put("attempt", job.attempt());
    out.put("version", job.version());
    out.put("claimedAt", job.until() - job.timeToRun());
    out.put("dueTime", job.dueTime());
    out.put("timeToRun", job.timeToRun());
    out.put("until", Instant.ofEpochMilli(job.until()).toString());
    Duration own = job.content().timeToRun();
    out.put("jobTimeToRun", (own != null ? own : Limits.DEFAULT_TIME_TO_RUN).toMillis());
    out.put("params", job.content().params());
    out.put("headers", job.content().headers());
    out.put("tags", job.content().tags());
    out.put("token", job.token().text());
    return out;
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims/{token}/ack")
  Map<String, Object> ack(@PathVariable String token) {
    return answer(claims.done(ClaimService.token(token)));
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims/{token}/nack")
  Map<String, Object> nack(@PathVariable String token, HttpServletRequest request) {
    ClaimToken claim = ClaimService.token(token);
    JsonFields fields = JsonBody.readOptional(request, bounds.maxBody().toBytes());
    Duration delay = fields.duration("delay", Duration.ZERO, Limits.MAX_RETRY_DELAY);
    String error = JobFields.error(fields);
    String worker = JobFields.worker(fields, request);
    fields.noMore();
    return answer(claims.failed(claim, worker, error, delay));
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims/{token}/reject")
  Map<String, Object> reject(@PathVariable String token, HttpServletRequest request) {
    ClaimToken claim = ClaimService.token(token);
    JsonFields fields = JsonBody.readOptional(request, bounds.maxBody().toBytes());
    String error = JobFields.error(fields);
    String worker = JobFields.worker(fields, request);
    fields.noMore();
    return answer(claims.rejected(claim, worker, error));
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims/{token}/release")
  Map<String, Object> release(@PathVariable String token, HttpServletRequest request) {
    ClaimToken claim = ClaimService.token(token);
    JsonFields fields = JsonBody.readOptional(request, bounds.maxBody().toBytes());
    Duration delay = fields.duration("delay", Duration.ZERO, Limits.MAX_RETRY_DELAY);
    fields.noMore();
    return answer(claims.release(claim, delay));
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims/{token}/extend")
  Map<String, Object> extend(@PathVariable String token, HttpServletRequest request) {
    ClaimToken claim = ClaimService.token(token);
    JsonFields fields = JsonBody.readOptional(request, bounds.maxBody().toBytes());
    Duration timeToRun = fields.duration("timeToRun", Limits.MIN_TIME_TO_RUN, Limits.MAX_DEFERRAL);
    fields.noMore();
    long until = claims.extend(claim, timeToRun);
    return Map.of("outcome", "extended", "until", Instant.ofEpochMilli(until).toString());
  }

  private static Map<String, Object> answer(ClaimService.Settlement settlement) {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("outcome", settlement.outcome().text());
    Long dueAt = settlement.dueAt();
    if (dueAt != null) {
      out.put("dueAt", Instant.ofEpochMilli(dueAt).toString());
      out.put("delayTime", dueAt);
    }
    return out;
  }
}
