package io.punctual.server.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.punctual.Limits;
import io.punctual.core.Engine;
import io.punctual.core.JobView;
import io.punctual.core.Submit;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.Requeued;
import io.punctual.core.store.Revised;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.durability.Reached;
import io.punctual.server.config.PunctualProperties;
import io.punctual.server.config.WorkersSeen;
import io.punctual.server.jobs.ApplicationQuotas;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.AuditLog;
import io.punctual.server.security.Caller;
import io.punctual.server.security.Role;
import io.punctual.server.web.ApiException;
import io.punctual.server.web.Problems;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.stream.Stream;
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

/** Jobs: submit, look at, cancel, move, run now, requeue. */
@RestController
@RequestMapping("/api/v1/jobs")
class JobsController {

  /** The most tags of If-Match that are tried on a cancelled job: each is a call to Redis. */
  private static final int MOST_TAGS = 10;

  private final Engine engine;
  private final AuditLog audit;
  private final WorkersSeen workers;
  private final ApplicationQuotas quotas;
  private final PunctualProperties.Api bounds;
  private final Duration remembered;

  JobsController(
      Engine engine,
      AuditLog audit,
      WorkersSeen workers,
      ApplicationQuotas quotas,
      PunctualProperties properties) {
    this.audit = audit;
    this.engine = engine;
    this.workers = workers;
    this.quotas = quotas;
    this.bounds = properties.api();
    this.remembered = properties.tombstones();
  }

  /** Why no job of that queue will run as things are; null if one may. */
  private @Nullable String unserved(QueueName queue) {
    return workers.unserved(queue, Caller.current().application() == null);
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping
  ResponseEntity<JobAnswers.Accepted> submit(
      HttpServletRequest request,
      @RequestParam(required = false) @Nullable String onConflict,
      @RequestHeader(value = "Idempotency-Key", required = false) @Nullable String key) {
    boolean replace = JobAnswers.replace(onConflict);
    IdempotencyKey idempotency = IdempotencyKey.of(key);
    JobInput input =
        JobInput.read(JsonBody.read(request, bounds.maxBody().toBytes()), idempotency::taskId)
            .in(request.getHeader("traceparent"));
    quotas.submit(input.queue(), JobInput.size(input.job()));
    Submit submit =
        engine
            .submit(input.application(), input.job(), replace, Caller.current().submitter())
            .join();
    idempotency.check(submit);
    JobAnswers.Accepted body =
        JobAnswers.accepted(input, submit, remembered, unserved(input.queue()));
    audit.did("submit", () -> input.queue() + "/" + input.job().taskId(), null, body.outcome());
    ResponseEntity.BodyBuilder response =
        submit.kind() == Submitted.Kind.CREATED
            ? ResponseEntity.created(JobAnswers.location(input))
            : ResponseEntity.ok();
    if (submit.version() != null) {
      response.eTag(EntityTag.of(submit.version()));
    }
    DurabilityHeader.add(submit.reached());
    return response.body(body);
  }

  /** Every job is on its own: a bad one, or one in conflict, has an error in its place. */
  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping("/batch")
  ResponseEntity<BatchAnswer> submitMany(
      HttpServletRequest request,
      @RequestParam(required = false) @Nullable String onConflict,
      @RequestHeader(value = Preference.HEADER, required = false) @Nullable String prefer) {
    boolean minimal = Preference.isMinimal(prefer);
    boolean replace = JobAnswers.replace(onConflict);
    JsonFields envelope = JsonBody.read(request, bounds.maxBatchBody().toBytes());
    JsonNode jobs = envelope.get("jobs");
    envelope.noMore();
    if (jobs == null || !jobs.isArray() || jobs.isEmpty() || jobs.size() > Limits.MAX_BATCH) {
      throw ApiException.invalid("jobs", "must be a list of 1 to " + Limits.MAX_BATCH + " jobs");
    }
    List<Item> items = new ArrayList<>(jobs.size());
    for (int i = 0; i < jobs.size(); i++) {
      items.add(start(jobs.get(i), "jobs[" + i + "].", replace));
    }
    // All jobs of a batch have a few task types.
    Map<QueueName, Optional<String>> unserved = new HashMap<>();
    BatchAnswer answer =
        new BatchAnswer(items.stream().map(item -> result(item, minimal, unserved)).toList());
    items.stream().flatMap(Item::reached).forEach(DurabilityHeader::add);
    audit.did("submit many", () -> text(items), null, null);
    ResponseEntity.BodyBuilder response = ResponseEntity.ok();
    return (minimal ? response.header(Preference.APPLIED, Preference.MINIMAL) : response)
        .body(answer);
  }

  /** Which jobs, for the audit. */
  private static String text(List<Item> items) {
    return items.size() + " jobs: " + items.stream().map(Item::taskId).toList();
  }

  record BatchAnswer(List<BatchResult> results) {}

  /** What became of one job: what a submit of its own had answered, or the problem. */
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

    /**
     * Omits fields that the client sent itself, and the version where it is 1, as of most.
     *
     * @param taskId the one that the job was given; null if it came with its own
     */
    static BatchResult minimal(@Nullable String taskId, int status, String outcome, Submit submit) {
      Long version = JobAnswers.version(submit);
      return new BatchResult(
          taskId,
          status,
          null,
          null,
          outcome,
          null,
          submit.dueAt(),
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

  private Item start(JsonNode node, String path, boolean replace) {
    try {
      JsonFields fields = JsonFields.of(node, path);
      boolean named = fields.peek("taskId") != null;
      JobInput input = JobInput.read(fields);
      quotas.submit(input.queue(), JobInput.size(input.job()));
      return new Item(
          input,
          named,
          engine.submit(input.application(), input.job(), replace, Caller.current().submitter()),
          null);
    } catch (ApiException e) {
      return new Item(null, false, null, e);
    }
  }

  private record Item(
      @Nullable JobInput input,
      boolean named,
      @Nullable CompletableFuture<Submit> answer,
      @Nullable ApiException error) {

    @Nullable String taskId() {
      return input == null ? null : input.job().taskId();
    }

    /** Where the job was when this was answered; empty if it is not with us. */
    Stream<Reached> reached() {
      return answer == null || answer.isCompletedExceptionally()
          ? Stream.empty()
          : Stream.of(answer.join().reached());
    }
  }

  private BatchResult result(
      Item item, boolean minimal, Map<QueueName, Optional<String>> unserved) {
    JobInput input = item.input();
    CompletableFuture<Submit> answer = item.answer();
    if (input == null || answer == null) {
      return BatchResult.of(null, Objects.requireNonNull(item.error()));
    }
    try {
      Submit submit = answer.join();
      int status = submit.kind() == Submitted.Kind.CREATED ? 201 : 200;
      if (minimal) {
        String outcome = JobAnswers.word(input, submit, remembered);
        return BatchResult.minimal(item.named() ? null : item.taskId(), status, outcome, submit);
      }
      String hint =
          unserved
              .computeIfAbsent(input.queue(), queue -> Optional.ofNullable(unserved(queue)))
              .orElse(null);
      return BatchResult.of(status, JobAnswers.accepted(input, submit, remembered, hint));
    } catch (ApiException e) {
      return BatchResult.of(input.job().taskId(), e);
    } catch (CompletionException e) {
      if (e.getCause() instanceof StoreException store) {
        return BatchResult.of(input.job().taskId(), Problems.translate(store));
      }
      throw e;
    }
  }

  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/{application}/{taskType}/{taskId}")
  ResponseEntity<Map<String, Object>> find(
      @PathVariable String application,
      @PathVariable String taskType,
      @PathVariable String taskId) {
    QueueName queue = JobAnswers.queue(application, taskType);
    JobView job =
        engine
            .find(queue, JobAnswers.id(taskId))
            .orElseThrow(() -> JobAnswers.unknown(queue, taskId));
    return ResponseEntity.ok().eTag(EntityTag.of(job)).body(JobOutput.of(job));
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @DeleteMapping("/{application}/{taskType}/{taskId}")
  ResponseEntity<Map<String, Object>> cancel(
      @PathVariable String application,
      @PathVariable String taskType,
      @PathVariable String taskId,
      @RequestHeader(value = "If-Match", required = false) @Nullable String ifMatch) {
    QueueName queue = JobAnswers.queue(application, taskType);
    Cancelled cancelled = cancel(queue, JobAnswers.id(taskId), ifMatch);
    return switch (cancelled.kind()) {
      case CANCELLED -> {
        audit.did("cancel", () -> queue + "/" + taskId, "delayed", "cancelled");
        Map<String, Object> body = JobAnswers.outcome(queue, taskId, "cancelled");
        if (cancelled.version() > 0) {
          body.put("version", cancelled.version());
        }
        yield ResponseEntity.ok().body(body);
      }
      case FINISHED ->
          throw JobAnswers.wrongState("finished", "it ran already; it cannot be cancelled", 0);
      case DEAD ->
          throw JobAnswers.wrongState(
              "dead", "it is a dead letter: nothing will run it unless requeued", 0);
      case IN_DELIVERY -> throw JobAnswers.inDelivery(cancelled.attempt(), "cancelled");
      case CHANGED -> throw EntityTag.changed();
      case UNKNOWN -> throw JobAnswers.unknown(queue, taskId);
    };
  }

  private Cancelled cancel(QueueName queue, String taskId, @Nullable String ifMatch) {
    if (ifMatch == null || ifMatch.strip().equals("*")) {
      return engine.operations().cancel(queue, taskId, null);
    }
    JobView job = engine.find(queue, taskId).orElseThrow(() -> JobAnswers.unknown(queue, taskId));
    if (job.state() != JobState.CANCELLED) {
      return engine.operations().cancel(queue, taskId, EntityTag.require(ifMatch, job));
    }
    // This may be a repeated call: the tombstone tells which job was cancelled.
    return EntityTag.versions(ifMatch)
        .limit(MOST_TAGS)
        .map(seen -> engine.operations().cancel(queue, taskId, seen))
        .filter(cancelled -> cancelled.kind() != Cancelled.Kind.CHANGED)
        .findFirst()
        .orElseThrow(EntityTag::changed);
  }

  /** Another due time, other content, or both. */
  @Allowed(value = Role.OPERATOR, applications = true)
  @PatchMapping("/{application}/{taskType}/{taskId}")
  ResponseEntity<Map<String, Object>> revise(
      @PathVariable String application,
      @PathVariable String taskType,
      @PathVariable String taskId,
      @RequestHeader(value = "If-Match", required = false) @Nullable String ifMatch,
      HttpServletRequest request) {
    JsonFields fields = JsonBody.read(request, bounds.maxBody().toBytes());
    return revise(application, taskType, taskId, ifMatch, fields);
  }

  ResponseEntity<Map<String, Object>> revise(
      String application,
      String taskType,
      String taskId,
      @Nullable String ifMatch,
      JsonFields fields) {
    QueueName queue = JobAnswers.queue(application, taskType);
    JobAnswers.id(taskId);
    JobChange change = JobChange.read(fields);
    JobVersion seen = seen(queue, taskId, ifMatch);
    boolean moved = change.content() == null;
    if (!moved) {
      quotas.revise(queue, change.size());
    }
    return revise(
        moved ? "reschedule" : "revise",
        queue,
        taskId,
        () -> engine.operations().revise(queue, taskId, change.due(), change.content(), seen),
        moved ? "rescheduled" : "revised");
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/{application}/{taskType}/{taskId}/run")
  ResponseEntity<Map<String, Object>> runNow(
      @PathVariable String application,
      @PathVariable String taskType,
      @PathVariable String taskId,
      @RequestHeader(value = "If-Match", required = false) @Nullable String ifMatch) {
    QueueName queue = JobAnswers.queue(application, taskType);
    JobVersion seen = seen(queue, JobAnswers.id(taskId), ifMatch);
    return revise(
        "run",
        queue,
        taskId,
        () -> engine.operations().revise(queue, taskId, Due.in(0), null, seen),
        "rescheduled");
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/{application}/{taskType}/{taskId}/requeue")
  ResponseEntity<Map<String, Object>> requeue(
      @PathVariable String application,
      @PathVariable String taskType,
      @PathVariable String taskId,
      @RequestHeader(value = "If-Match", required = false) @Nullable String ifMatch) {
    QueueName queue = JobAnswers.queue(application, taskType);
    JobVersion seen = seen(queue, JobAnswers.id(taskId), ifMatch);
    Requeued.Item requeued = engine.operations().requeue(queue, taskId, seen);
    return switch (requeued.kind()) {
      case REQUEUED -> {
        audit.did("requeue", () -> queue + "/" + taskId, "dead", "delayed");
        yield answer(JobAnswers.outcome(queue, taskId, "requeued"), requeued.version());
      }
      case CHANGED -> throw EntityTag.changed();
      case REFUSED -> throw notDead(queue, taskId);
    };
  }

  private static ResponseEntity<Map<String, Object>> answer(
      Map<String, Object> body, @Nullable JobVersion version) {
    ResponseEntity.BodyBuilder response = ResponseEntity.ok();
    if (version != null) {
      body.put("version", version.number());
      response.eTag(EntityTag.of(version));
    }
    return response.body(body);
  }

  private ApiException notDead(QueueName queue, String taskId) {
    JobView job = engine.find(queue, taskId).orElseThrow(() -> JobAnswers.unknown(queue, taskId));
    return JobAnswers.wrongState(
        JobOutput.state(job.state()), "only a dead letter can be requeued", job.attempt());
  }

  private @Nullable JobVersion seen(QueueName queue, String taskId, @Nullable String ifMatch) {
    return ifMatch == null
        ? null
        : EntityTag.require(
            ifMatch,
            engine.find(queue, taskId).orElseThrow(() -> JobAnswers.unknown(queue, taskId)));
  }

  private ResponseEntity<Map<String, Object>> revise(
      String action, QueueName queue, String taskId, Supplier<Revised> change, String outcome) {
    String before = audit.isKept() ? due(queue, taskId) : null;
    Revised revised = change.get();
    return switch (revised.kind()) {
      case REVISED -> {
        Map<String, Object> body = JobAnswers.outcome(queue, taskId, outcome);
        String due = Instant.ofEpochMilli(revised.due()).toString();
        body.put("dueAt", due);
        body.put("delayTime", revised.due());
        audit.did(action, () -> queue + "/" + taskId, before, "due " + due);
        yield answer(body, revised.version());
      }
      case FINISHED ->
          throw JobAnswers.wrongState("finished", "it ran already; it cannot be changed", 0);
      case DEAD ->
          throw JobAnswers.wrongState("dead", "it is a dead letter; requeue it instead", 0);
      case IN_DELIVERY -> throw JobAnswers.inDelivery(revised.attempt(), "changed");
      case CHANGED -> throw EntityTag.changed();
      case UNKNOWN -> throw JobAnswers.unknown(queue, taskId);
    };
  }

  private @Nullable String due(QueueName queue, String taskId) {
    JobView job = engine.find(queue, taskId).orElse(null);
    return job == null ? null : "due " + Instant.ofEpochMilli(job.at());
  }
}
