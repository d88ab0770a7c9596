package io.punctual.server.api;

import io.punctual.DelayQueueJob;
import io.punctual.ErrorCode;
import io.punctual.Limits;
import io.punctual.RetryPolicy;
import io.punctual.core.ClaimToken;
import io.punctual.core.Claims;
import io.punctual.core.Engine;
import io.punctual.core.JobView;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.Submit;
import io.punctual.core.job.JobState;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.Cancelled;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Settled;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.Submitted;
import io.punctual.server.config.PunctualProperties;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;

/**
 * The command protocol: one address, a JSON object in, {@code success}, {@code error}, {@code id}
 * and {@code value} out. docs/protocol.md is its definition.
 */
@RestController
class CommandController {

  /** Where it is. */
  static final String PATH = Problems.COMMAND;

  private static final String KNOWN = "add, pop, finish, delete, nack, release, touch, get";
  private static final Duration MAX_DELAY = Duration.between(Instant.EPOCH, Limits.MAX_DUE);
  private static final int MAX_TOPICS = 32;
  private static final String ID = CommandController.class.getName() + ".id";
  private static final LeaseToken NO_LEASE = new LeaseToken("none");

  private final Engine engine;
  private final Claims claims;
  private final OpenPulls open;
  private final JobLookup lookup;
  private final AuditLog audit;
  private final ApplicationQuotas quotas;
  private final PunctualProperties.Api bounds;
  private final Duration remembered;

  CommandController(
      Engine engine,
      OpenPulls open,
      JobLookup lookup,
      AuditLog audit,
      ApplicationQuotas quotas,
      PunctualProperties properties) {
    this.audit = audit;
    this.quotas = quotas;
    this.engine = engine;
    this.claims = engine.claims();
    this.open = open;
    this.lookup = lookup;
    this.bounds = properties.api();
    this.remembered = properties.tombstones();
  }

  /** What every command has. */
  private record Command(JsonFields fields, String application, HttpServletRequest request) {

    @Nullable String topic() {
      return fields.name("topic");
    }

    String id() {
      return fields.requiredName("id");
    }
  }

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping(PATH)
  DeferredResult<ResponseEntity<?>> run(HttpServletRequest request) {
    JsonFields fields = JsonBody.read(request, bounds.maxBody().toBytes());
    request.setAttribute(ID, fields.peek("id"));
    String name = fields.text("command");
    String application =
        Objects.requireNonNullElse(AccessRules.application(fields.name("application")), "default")
            // As queues and tokens have it.
            .toLowerCase(Locale.ROOT);
    Command command = new Command(fields, application, request);
    return switch (name == null ? "" : name) {
      case "add" -> now(did("add", command, add(command)));
      case "pop" -> pop(command);
      case "finish" -> now(did("finish", command, finish(command)));
      case "delete" -> now(did("delete", command, delete(command)));
      case "nack" -> now(did("nack", command, nack(command)));
      case "release" -> now(did("release", command, release(command)));
      case "touch" -> now(did("touch", command, touch(command)));
      case "get" -> now(get(command));
      default -> throw fields.error("command", "must be one of " + KNOWN);
    };
  }

  private Map<String, Object> did(String name, Command command, Map<String, Object> answer) {
    audit.did(name, () -> command.application() + ": " + answer.get("id"), null, null);
    return answer;
  }

  private static DeferredResult<ResponseEntity<?>> now(Map<String, Object> answer) {
    DeferredResult<ResponseEntity<?>> result = new DeferredResult<>();
    result.setResult(ResponseEntity.ok(answer));
    return result;
  }

  private Map<String, Object> add(Command command) {
    JsonFields fields = command.fields();
    String topic = fields.requiredName("topic");
    String id = command.id();
    Duration delay = fields.seconds("delay", Duration.ZERO, MAX_DELAY);
    Duration timeToRun = fields.seconds("TTR", Limits.MIN_TIME_TO_RUN, Limits.MAX_TIME_TO_RUN);
    String body = JobInput.params(fields, "body");
    RetryPolicy retry = JobInput.retry(fields);
    Map<String, String> headers = fields.texts("headers");
    List<String> tags = fields.textList("tags");
    fields.noMore();
    if (delay == null) {
      throw fields.error("delay", "is missing: give the seconds from now until the job is due");
    }
    DelayQueueJob job;
    try {
      job =
          new DelayQueueJob(
              id, topic, null, delay, body == null ? "" : body, timeToRun, retry, headers, tags);
    } catch (IllegalArgumentException e) {
      throw JobInput.named(fields, e);
    }
    quotas.submit(new QueueName(command.application(), topic), JobInput.size(job));
    Submit submit =
        engine.submit(command.application(), job, false, Caller.current().submitter()).join();
    DurabilityHeader.add(submit.reached());
    if (submit.kind() == Submitted.Kind.CONFLICT) {
      throw conflict(
          id,
          "; it differs in "
              + String.join(", ", submit.differing())
              + ". Choose another id, or delete that job first");
    } else if (submit.kind() == Submitted.Kind.CONFLICT_DONE) {
      throw conflict(
          id,
          ": "
              + JobAnswers.ran(submit.dueAt(), remembered)
              + ". Choose another id, or wait until then");
    }
    return answer(id, null);
  }

  private static ApiException conflict(String id, String how) {
    return ApiException.of(
        ErrorCode.CONFLICT, "another job has the id " + id + how, Map.of("id", id));
  }

  private DeferredResult<ResponseEntity<?>> pop(Command command) {
    JsonFields fields = command.fields();
    String topic = command.topic();
    List<String> topics = fields.textList("topics");
    Duration timeout = fields.seconds("timeout", Duration.ZERO, OpenPulls.MAX_WAIT);
    boolean many = fields.get("count") != null;
    int count = fields.integer("count", 1, 1, JobStore.MAX_JOBS);
    Duration timeToRun = fields.seconds("TTR", Limits.MIN_TIME_TO_RUN, Limits.MAX_TIME_TO_RUN);
    String worker = ClaimsController.worker(fields, command.request());
    fields.noMore();
    if ((topic == null) == topics.isEmpty()) {
      throw fields.error("topic", "give either topic, or topics in the order of their priority");
    }
    if (topics.size() > MAX_TOPICS) {
      throw fields.error("topics", "must be at most " + MAX_TOPICS);
    }
    for (int i = 0; i < topics.size(); i++) {
      if (!Limits.isName(topics.get(i))) {
        throw fields.error("topics[" + i + "]", Limits.NAME_RULE);
      }
    }
    List<QueueName> queues =
        (topic != null ? List.of(topic) : topics)
            .stream().map(type -> new QueueName(command.application(), type)).toList();
    audit.did("pop", queues::toString, null, null);
    return open.pull(
        new PullRequest(
            queues, count, Objects.requireNonNullElse(timeout, Duration.ZERO), timeToRun, worker),
        command.request(),
        jobs -> ResponseEntity.ok(new PulledAnswer(popped(jobs, many), jobs, claims)));
  }

  private static Map<String, Object> popped(List<PulledJob> jobs, boolean many) {
    if (many) {
      return answer(
          null,
          jobs.stream()
              .map(
                  job -> {
                    Map<String, Object> one = new LinkedHashMap<>();
                    one.put("id", job.token().taskId());
                    one.put("value", job.content().params());
                    one.putAll(details(job));
                    return one;
                  })
              .toList());
    } else if (jobs.isEmpty()) {
      return answer(null, null);
    }
    Map<String, Object> answer =
        answer(jobs.get(0).token().taskId(), jobs.get(0).content().params());
    answer.putAll(details(jobs.get(0)));
    return answer;
  }

  private static Map<String, Object> details(PulledJob job) {
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("topic", job.token().queue().taskType());
    details.put("attempt", job.attempt());
    details.put("token", job.token().text());
    details.put("TTR", seconds(job.timeToRun()));
    details.put("delayTime", job.dueTime());
    return details;
  }

  // Whole seconds look like whole seconds.
  private static Number seconds(long millis) {
    return millis % 1000 == 0 ? (Number) (millis / 1000) : (Number) (millis / 1000.0);
  }

  private Map<String, Object> finish(Command command) {
    String id = command.id();
    String topic = command.topic();
    ClaimToken token = token(command, id);
    command.fields().noMore();
    if (token == null) {
      JobView job = lookup.find(command.application(), topic, id);
      if (job.state() == JobState.FINISHED) {
        return answer(id, null);
      }
      String incarnation = job.incarnation();
      if (incarnation == null || neverBegun(job)) {
        throw ApiException.of(
            ErrorCode.WRONG_STATE,
            "the job is "
                + CommandStates.of(job)
                + " and nobody has begun it: only what was popped can be finished; delete cancels"
                + " it");
      }
      token = new ClaimToken(job.queue(), id, incarnation, NO_LEASE);
    }
    Settled settled = claims.done(token).join();
    if (settled.kind() == Settled.Kind.GONE) {
      throw JobAnswers.unknown(token.queue(), id);
    }
    return answer(id, null);
  }

  private static boolean neverBegun(JobView job) {
    return job.state() == JobState.CANCELLED
        || (job.state() == JobState.DELAYED && job.tries().attempts() == 0);
  }

  private Map<String, Object> delete(Command command) {
    String id = command.id();
    String topic = command.topic();
    command.fields().noMore();
    QueueName queue = lookup.find(command.application(), topic, id).queue();
    Cancelled cancelled = engine.operations().cancel(queue, id, null);
    return switch (cancelled.kind()) {
      case CANCELLED -> answer(id, null);
      case FINISHED -> throw JobAnswers.wrongState("finished", "it was finished already", 0);
      case DEAD ->
          throw JobAnswers.wrongState(
              "dead", "it is out of attempts or was rejected, and runs no more", 0);
      case IN_DELIVERY -> throw JobAnswers.inDelivery(cancelled.attempt(), "deleted");
      case UNKNOWN, CHANGED -> throw JobAnswers.unknown(queue, id);
    };
  }

  private Map<String, Object> nack(Command command) {
    String id = command.id();
    ClaimToken token = requiredToken(command, id);
    Duration delay = command.fields().seconds("delay", Duration.ZERO, Limits.MAX_RETRY_DELAY);
    String error = ClaimsController.error(command.fields());
    String worker = ClaimsController.worker(command.fields(), command.request());
    command.fields().noMore();
    Settled settled = claims.failed(token, worker, error, delay).join();
    return switch (settled.kind()) {
      case RETRY -> answer(id, "delay");
      case DEAD -> answer(id, "dead");
      default -> throw ClaimsController.lost(engine, token);
    };
  }

  private Map<String, Object> release(Command command) {
    String id = command.id();
    ClaimToken token = requiredToken(command, id);
    Duration delay = command.fields().seconds("delay", Duration.ZERO, Limits.MAX_RETRY_DELAY);
    command.fields().noMore();
    Settled settled =
        claims.release(token, Objects.requireNonNullElse(delay, Duration.ZERO)).join();
    if (settled.kind() != Settled.Kind.RETRY) {
      throw ClaimsController.lost(engine, token);
    }
    return answer(id, "delay");
  }

  private Map<String, Object> touch(Command command) {
    String id = command.id();
    ClaimToken token = requiredToken(command, id);
    Duration timeToRun =
        command.fields().seconds("TTR", Limits.MIN_TIME_TO_RUN, Limits.MAX_TIME_TO_RUN);
    command.fields().noMore();
    OptionalLong until = claims.extend(token, timeToRun);
    if (until.isEmpty()) {
      throw ClaimsController.lost(engine, token);
    }
    return answer(id, until.getAsLong());
  }

  private Map<String, Object> get(Command command) {
    String id = command.id();
    String topic = command.topic();
    command.fields().noMore();
    JobView job = lookup.find(command.application(), topic, id);
    Map<String, Object> value = new LinkedHashMap<>();
    value.put("topic", job.queue().taskType());
    value.put("state", CommandStates.of(job));
    value.put("body", job.content() == null ? null : job.content().params());
    value.put("delayTime", job.state() == JobState.DELAYED ? job.at() : null);
    value.put(
        "attempts", job.state() == JobState.RESERVED ? job.attempt() : job.tries().attempts());
    return answer(id, value);
  }

  private static ClaimToken requiredToken(Command command, String id) {
    ClaimToken token = token(command, id);
    if (token == null) {
      throw command.fields().error("token", "is missing: give the one that pop answered");
    }
    return token;
  }

  private static @Nullable ClaimToken token(Command command, String id) {
    String text = command.fields().text("token");
    String topic = command.topic();
    if (text == null) {
      return null;
    }
    ClaimToken token;
    try {
      token = ClaimToken.parse(text);
    } catch (IllegalArgumentException e) {
      throw command.fields().error("token", String.valueOf(e.getMessage()));
    }
    if (!token.taskId().equals(id)
        || !token.queue().application().equals(command.application())
        || (topic != null && !token.queue().taskType().equals(topic))) {
      throw command.fields().error("token", "belongs to another job");
    }
    return token;
  }

  private static Map<String, Object> answer(@Nullable String id, @Nullable Object value) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("success", true);
    answer.put("error", null);
    answer.put("id", id);
    answer.put("value", value);
    return answer;
  }

  @ExceptionHandler
  ResponseEntity<Map<String, Object>> onApi(ApiException e, HttpServletRequest request) {
    ResponseEntity.BodyBuilder builder =
        ResponseEntity.status(e.status()).contentType(MediaType.APPLICATION_JSON);
    String retryAfter = e.retryAfterSeconds();
    if (retryAfter != null) {
      builder.header(HttpHeaders.RETRY_AFTER, retryAfter);
    }
    return builder.body(Problems.commandFailure((String) request.getAttribute(ID), e));
  }

  @ExceptionHandler
  ResponseEntity<Map<String, Object>> onStore(StoreException e, HttpServletRequest request) {
    return onApi(Problems.translate(e), request);
  }

  @ExceptionHandler
  ResponseEntity<Map<String, Object>> onAsync(CompletionException e, HttpServletRequest request) {
    if (e.getCause() instanceof StoreException store) {
      return onStore(store, request);
    }
    return onAnything(e, request);
  }

  @ExceptionHandler
  ResponseEntity<Map<String, Object>> onAnything(Exception e, HttpServletRequest request) {
    return onApi(Problems.unexpected(e), request);
  }
}
