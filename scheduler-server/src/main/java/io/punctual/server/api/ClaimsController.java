package io.punctual.server.api;

import io.punctual.ErrorCode;
import io.punctual.Limits;
import io.punctual.core.ClaimToken;
import io.punctual.core.Claims;
import io.punctual.core.Engine;
import io.punctual.core.JobView;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Settled;
import io.punctual.server.config.PunctualProperties;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.AuditLog;
import io.punctual.server.security.Role;
import io.punctual.server.web.ApiException;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;

/** Pull: fetch what is due, and say how it ended. */
@RestController
@RequestMapping("/api/v1")
class ClaimsController {

  private static final int MAX_TASK_TYPES = 32;

  private final Engine engine;
  private final Claims claims;
  private final OpenPulls open;
  private final AuditLog audit;
  private final PunctualProperties.Api bounds;

  ClaimsController(Engine engine, OpenPulls open, AuditLog audit, PunctualProperties properties) {
    this.audit = audit;
    this.engine = engine;
    this.claims = engine.claims();
    this.open = open;
    this.bounds = properties.api();
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims")
  DeferredResult<ResponseEntity<?>> claim(HttpServletRequest request) {
    JsonFields fields = JsonBody.read(request, bounds.maxBody().toBytes());
    String application = fields.application();
    List<String> taskTypes = fields.textList("taskTypes");
    int max = fields.integer("max", 1, 1, JobStore.MAX_JOBS);
    Duration wait = fields.duration("wait", Duration.ZERO, OpenPulls.MAX_WAIT);
    Duration timeToRun =
        fields.duration("timeToRun", Limits.MIN_TIME_TO_RUN, Limits.MAX_TIME_TO_RUN);
    String worker = worker(fields, request);
    fields.noMore();
    if (taskTypes.isEmpty() || taskTypes.size() > MAX_TASK_TYPES) {
      throw fields.error("taskTypes", "must be a list of 1 to " + MAX_TASK_TYPES + " task types");
    }
    for (int i = 0; i < taskTypes.size(); i++) {
      if (!Limits.isName(taskTypes.get(i))) {
        throw fields.error("taskTypes[" + i + "]", Limits.NAME_RULE);
      }
    }
    List<QueueName> queues =
        taskTypes.stream().map(type -> new QueueName(application, type)).toList();
    audit.did("claim", queues::toString, null, null);
    return open.pull(
        new PullRequest(
            queues, max, Objects.requireNonNullElse(wait, Duration.ZERO), timeToRun, worker),
        request,
        jobs -> answer(queues, jobs));
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims:leave")
  DeferredResult<Map<String, Object>> leave(HttpServletRequest request) {
    JsonFields fields = JsonBody.read(request, bounds.maxBody().toBytes());
    String application = fields.application();
    boolean named = fields.get("worker") != null;
    String worker = worker(fields, request);
    fields.noMore();
    if (!named) {
      throw fields.error("worker", "is missing: give the name with which the worker claims");
    }
    DeferredResult<Map<String, Object>> result = new DeferredResult<>();
    var unused =
        open.leave(application.toLowerCase(Locale.ROOT), worker)
            .thenAccept(n -> result.setResult(Map.of("ended", n)));
    return result;
  }

  /** The name that a puller gives itself, else its address. */
  static String worker(JsonFields fields, HttpServletRequest request) {
    String worker = fields.text("worker");
    if (worker != null && !worker.matches("[!-~]{1,100}")) {
      throw fields.error("worker", "must be 1 to 100 printable ASCII characters without spaces");
    }
    return worker != null ? worker : request.getRemoteAddr() + ":" + request.getRemotePort();
  }

  private ResponseEntity<?> answer(List<QueueName> queues, List<PulledJob> jobs) {
    if (!jobs.isEmpty()) {
      return ResponseEntity.ok(
          new PulledAnswer(
              Map.of("jobs", jobs.stream().map(ClaimsController::output).toList()), jobs, claims));
    }
    Map<QueueName, String> damaged = engine.scanners().damaged();
    ResponseEntity.HeadersBuilder<?> nothing = ResponseEntity.noContent();
    name(nothing, "Punctual-Paused", claims.paused(queues).stream());
    name(nothing, "Punctual-Damaged", queues.stream().filter(damaged::containsKey));
    return nothing.build();
  }

  private static void name(
      ResponseEntity.HeadersBuilder<?> answer, String header, Stream<QueueName> queues) {
    String names = queues.map(QueueName::taskType).collect(Collectors.joining(","));
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
    ClaimToken claim = token(token);
    return ended(claim, claims.done(claim).join());
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims/{token}/nack")
  Map<String, Object> nack(@PathVariable String token, HttpServletRequest request) {
    ClaimToken claim = token(token);
    JsonFields fields = JsonBody.readOptional(request, bounds.maxBody().toBytes());
    Duration delay = fields.duration("delay", Duration.ZERO, Limits.MAX_RETRY_DELAY);
    String error = error(fields);
    String worker = worker(fields, request);
    fields.noMore();
    return ended(claim, claims.failed(claim, worker, error, delay).join());
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims/{token}/reject")
  Map<String, Object> reject(@PathVariable String token, HttpServletRequest request) {
    ClaimToken claim = token(token);
    JsonFields fields = JsonBody.readOptional(request, bounds.maxBody().toBytes());
    String error = error(fields);
    String worker = worker(fields, request);
    fields.noMore();
    return ended(claim, claims.rejected(claim, worker, error).join());
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims/{token}/release")
  Map<String, Object> release(@PathVariable String token, HttpServletRequest request) {
    ClaimToken claim = token(token);
    JsonFields fields = JsonBody.readOptional(request, bounds.maxBody().toBytes());
    Duration delay = fields.duration("delay", Duration.ZERO, Limits.MAX_RETRY_DELAY);
    fields.noMore();
    Settled settled =
        claims.release(claim, Objects.requireNonNullElse(delay, Duration.ZERO)).join();
    return settled.kind() == Settled.Kind.RETRY
        ? did(claim, again("released", settled))
        : ended(claim, settled);
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/claims/{token}/extend")
  Map<String, Object> extend(@PathVariable String token, HttpServletRequest request) {
    ClaimToken claim = token(token);
    JsonFields fields = JsonBody.readOptional(request, bounds.maxBody().toBytes());
    Duration timeToRun = fields.duration("timeToRun", Limits.MIN_TIME_TO_RUN, Limits.MAX_DEFERRAL);
    fields.noMore();
    OptionalLong until = claims.extend(claim, timeToRun);
    if (until.isEmpty()) {
      throw lost(engine, claim);
    }
    return Map.of(
        "outcome", "extended", "until", Instant.ofEpochMilli(until.getAsLong()).toString());
  }

  private static ClaimToken token(String text) {
    try {
      return ClaimToken.parse(text);
    } catch (IllegalArgumentException e) {
      throw ApiException.invalid("token", String.valueOf(e.getMessage()));
    }
  }

  /** What a worker says about its trouble. */
  static String error(JsonFields fields) {
    String error = fields.text("error");
    return error == null ? "" : error;
  }

  private Map<String, Object> did(ClaimToken claim, Map<String, Object> outcome) {
    audit.did(
        "end",
        () -> claim.queue() + "/" + claim.taskId(),
        "reserved",
        String.valueOf(outcome.get("outcome")));
    return outcome;
  }

  private Map<String, Object> ended(ClaimToken claim, Settled settled) {
    return switch (settled.kind()) {
      case DONE -> did(claim, Map.of("outcome", "done"));
      case ALREADY -> Map.of("outcome", "already_done");
      case DEAD -> did(claim, Map.of("outcome", "dead"));
      case RETRY -> did(claim, again("retry", settled));
      case GONE -> throw JobAnswers.unknown(claim.queue(), claim.taskId());
      case LOST -> throw lost(engine, claim);
    };
  }

  private static Map<String, Object> again(String outcome, Settled settled) {
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("outcome", outcome);
    out.put("dueAt", Instant.ofEpochMilli(settled.at()).toString());
    out.put("delayTime", settled.at());
    return out;
  }

  /** Says what became of the job instead. */
  static ApiException lost(Engine engine, ClaimToken claim) {
    Map<String, Object> extra = new LinkedHashMap<>();
    String now = "it is gone";
    JobView job = engine.find(claim.queue(), claim.taskId()).orElse(null);
    if (job != null) {
      extra.put("state", JobOutput.state(job.state()));
      now = "it is " + JobOutput.state(job.state());
      if (job.state() == JobState.RESERVED) {
        extra.put("attempt", job.attempt());
        now = "attempt " + job.attempt() + " has it";
      }
    }
    return ApiException.of(
        ErrorCode.LEASE_LOST,
        "the job " + claim.taskId() + " is not yours any more: " + now + "; nothing was changed",
        extra);
  }
}
