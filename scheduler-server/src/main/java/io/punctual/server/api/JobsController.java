package io.punctual.server.api;

import io.punctual.CancelResult;
import io.punctual.ErrorCode;
import io.punctual.Limits;
import io.punctual.RescheduleResult;
import io.punctual.core.engine.Engine;
import io.punctual.core.engine.JobView;
import io.punctual.core.engine.Submit;
import io.punctual.core.job.Due;
import io.punctual.core.queue.QueueName;
import io.punctual.core.store.StoreException;
import io.punctual.server.config.PunctualProperties;
import jakarta.servlet.http.HttpServletRequest;
import java.net.URI;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.JsonNode;

/** Jobs: submit, look at, cancel, move, run now, requeue. */
@RestController
@RequestMapping("/api/v1/jobs")
class JobsController {

  private final Engine engine;
  private final PunctualProperties.Api bounds;

  JobsController(Engine engine, PunctualProperties properties) {
    this.engine = engine;
    this.bounds = properties.api();
  }

  @PostMapping
  ResponseEntity<Map<String, Object>> submit(
      HttpServletRequest request, @RequestParam(required = false) @Nullable String onConflict) {
    boolean replace = replace(onConflict);
    JobInput input = JobInput.read(JsonBody.read(request, bounds.maxBody().toBytes()));
    Submit submit = engine.submit(input.application(), input.job(), replace).join();
    Map<String, Object> body = accepted(input, submit);
    return submit.kind() == Submit.Kind.CREATED
        ? ResponseEntity.created(location(input)).body(body)
        : ResponseEntity.ok(body);
  }

  /** Every job is on its own: a bad one, or one in conflict, has an error in its place. */
  @PostMapping("/batch")
  Map<String, Object> submitMany(
      HttpServletRequest request, @RequestParam(required = false) @Nullable String onConflict) {
    boolean replace = replace(onConflict);
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
    List<Map<String, Object>> results = new ArrayList<>(items.size());
    items.forEach(item -> results.add(item.result()));
    return Map.of("results", results);
  }

  private Item start(JsonNode node, String path, boolean replace) {
    try {
      JobInput input = JobInput.read(JsonFields.of(node, path));
      return new Item(input, engine.submit(input.application(), input.job(), replace), null);
    } catch (ApiException e) {
      return new Item(null, null, e);
    }
  }

  private record Item(
      @Nullable JobInput input,
      @Nullable CompletableFuture<Submit> answer,
      @Nullable ApiException error) {

    Map<String, Object> result() {
      Map<String, Object> result = new LinkedHashMap<>();
      ApiException problem = error;
      if (input != null && answer != null) {
        result.put("taskId", input.job().taskId());
        try {
          Submit submit = answer.join();
          result.put("status", submit.kind() == Submit.Kind.CREATED ? 201 : 200);
          result.putAll(accepted(input, submit));
          return result;
        } catch (ApiException e) {
          problem = e;
        } catch (CompletionException e) {
          if (!(e.getCause() instanceof StoreException store)) {
            throw e;
          }
          problem = Problems.translate(store);
        }
      }
      if (problem != null) {
        result.put("status", problem.code().status());
        result.put("problem", Problems.document(problem));
      }
      return result;
    }
  }

  @GetMapping("/{application}/{taskType}/{taskId}")
  Map<String, Object> find(
      @PathVariable String application,
      @PathVariable String taskType,
      @PathVariable String taskId) {
    QueueName queue = queue(application, taskType);
    return JobOutput.of(
        engine
            .find(queue, id(taskId))
            .orElseThrow(() -> ApiException.of(ErrorCode.NOT_FOUND, unknown(queue, taskId))));
  }

  @DeleteMapping("/{application}/{taskType}/{taskId}")
  Map<String, Object> cancel(
      @PathVariable String application,
      @PathVariable String taskType,
      @PathVariable String taskId) {
    QueueName queue = queue(application, taskType);
    CancelResult result = engine.cancel(queue, id(taskId));
    return switch (result.outcome()) {
      case CANCELLED -> outcome(queue, taskId, "cancelled");
      case FINISHED -> throw wrongState("finished", "it ran already; it cannot be cancelled", 0);
      case DEAD ->
          throw wrongState("dead", "it is a dead letter: nothing will run it unless requeued", 0);
      case IN_DELIVERY -> throw inDelivery(result.attempt(), "cancelled");
      case UNKNOWN -> throw ApiException.of(ErrorCode.NOT_FOUND, unknown(queue, taskId));
    };
  }

  @PatchMapping("/{application}/{taskType}/{taskId}")
  Map<String, Object> reschedule(
      @PathVariable String application,
      @PathVariable String taskType,
      @PathVariable String taskId,
      HttpServletRequest request) {
    QueueName queue = queue(application, taskType);
    JsonFields fields = JsonBody.read(request, bounds.maxBody().toBytes());
    Due due = JobInput.due(fields);
    fields.noMore();
    return move(queue, id(taskId), due);
  }

  @PostMapping("/{application}/{taskType}/{taskId}/run")
  ResponseEntity<Map<String, Object>> runNow(
      @PathVariable String application,
      @PathVariable String taskType,
      @PathVariable String taskId) {
    return ResponseEntity.accepted()
        .body(move(queue(application, taskType), id(taskId), Due.in(0)));
  }

  @PostMapping("/{application}/{taskType}/{taskId}/requeue")
  ResponseEntity<Map<String, Object>> requeue(
      @PathVariable String application,
      @PathVariable String taskType,
      @PathVariable String taskId) {
    QueueName queue = queue(application, taskType);
    if (engine.requeue(queue, id(taskId))) {
      return ResponseEntity.accepted().body(outcome(queue, taskId, "requeued"));
    }
    JobView job =
        engine
            .find(queue, taskId)
            .orElseThrow(() -> ApiException.of(ErrorCode.NOT_FOUND, unknown(queue, taskId)));
    throw wrongState(
        JobOutput.state(job.state()), "only a dead letter can be requeued", job.attempt());
  }

  private Map<String, Object> move(QueueName queue, String taskId, Due due) {
    RescheduleResult result = engine.reschedule(queue, taskId, due);
    switch (result.outcome()) {
      case RESCHEDULED -> {
        Map<String, Object> body = outcome(queue, taskId, "rescheduled");
        Instant dueAt = result.dueAt();
        if (dueAt != null) {
          body.put("dueAt", dueAt.toString());
          body.put("delayTime", dueAt.toEpochMilli());
        }
        return body;
      }
      case FINISHED -> throw wrongState("finished", "it ran already; it cannot be moved", 0);
      case DEAD -> throw wrongState("dead", "it is a dead letter; requeue it instead", 0);
      case IN_DELIVERY -> throw inDelivery(result.attempt(), "moved");
      default -> throw ApiException.of(ErrorCode.NOT_FOUND, unknown(queue, taskId));
    }
  }

  private static Map<String, Object> accepted(JobInput input, Submit submit) {
    String outcome =
        switch (submit.kind()) {
          case CREATED -> "created";
          case THERE -> "already_there";
          case DONE -> "already_done";
          case REPLACED -> "replaced";
          case CONFLICT ->
              throw ApiException.of(
                  ErrorCode.CONFLICT,
                  "another job has the id "
                      + input.job().taskId()
                      + "; it differs in "
                      + String.join(", ", submit.differing())
                      + ". Choose another id, or replace it with ?onConflict=replace",
                  Map.of("taskId", input.job().taskId(), "differing", submit.differing()));
          case CONFLICT_DONE ->
              throw ApiException.of(
                  ErrorCode.CONFLICT,
                  "another job with the id "
                      + input.job().taskId()
                      + " ran at "
                      + Instant.ofEpochMilli(submit.dueAt())
                      + ". Choose another id, or use it again with ?onConflict=replace",
                  Map.of("taskId", input.job().taskId(), "differing", List.of()));
          case IN_DELIVERY -> throw inDelivery(submit.attempt(), "replaced");
        };
    Map<String, Object> body = new LinkedHashMap<>();
    body.put(
        "application", new QueueName(input.application(), input.job().taskType()).application());
    body.put("taskType", input.job().taskType());
    body.put("taskId", input.job().taskId());
    body.put("outcome", outcome);
    body.put("dueAt", Instant.ofEpochMilli(submit.dueAt()).toString());
    body.put("delayTime", submit.dueAt());
    return body;
  }

  private static Map<String, Object> outcome(QueueName queue, String taskId, String outcome) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("application", queue.application());
    body.put("taskType", queue.taskType());
    body.put("taskId", taskId);
    body.put("outcome", outcome);
    return body;
  }

  private static ApiException inDelivery(int attempt, String what) {
    return wrongState(
        "reserved", "a worker has it as attempt " + attempt + "; it cannot be " + what, attempt);
  }

  private static ApiException wrongState(String state, String detail, int attempt) {
    return ApiException.of(
        ErrorCode.WRONG_STATE,
        "the job is " + state + ": " + detail,
        attempt == 0 ? Map.of("state", state) : Map.of("state", state, "attempt", attempt));
  }

  private static URI location(JobInput input) {
    return URI.create(
        "/api/v1/jobs/"
            + new QueueName(input.application(), input.job().taskType())
            + "/"
            + input.job().taskId());
  }

  private static boolean replace(@Nullable String onConflict) {
    if (onConflict != null && !onConflict.equals("replace")) {
      throw ApiException.invalid("onConflict", "must be replace, or not be given");
    }
    return onConflict != null;
  }

  static QueueName queue(String application, String taskType) {
    return new QueueName(checked("application", application), checked("taskType", taskType));
  }

  private static String id(String taskId) {
    return checked("taskId", taskId);
  }

  private static String checked(String field, String value) {
    if (!Limits.NAME.matcher(value).matches()) {
      throw ApiException.invalid(field, Limits.NAME_RULE);
    }
    return value;
  }

  private static String unknown(QueueName queue, String taskId) {
    return "no job " + taskId + " is known in " + queue + "; it never was, or is long gone";
  }
}
