package io.punctual.server.command;

import io.punctual.DelayQueueJob;
import io.punctual.ErrorCode;
import io.punctual.Limits;
import io.punctual.RetryPolicy;
import io.punctual.core.ClaimToken;
import io.punctual.core.JobView;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.job.JobState;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.server.jobs.ClaimService;
import io.punctual.server.jobs.JobRef;
import io.punctual.server.jobs.JobResult;
import io.punctual.server.jobs.JobService;
import io.punctual.server.jobs.LongPolls;
import io.punctual.server.jobs.NewJob;
import io.punctual.server.jobs.Submitted;
import io.punctual.server.problem.ApiException;
import io.punctual.server.problem.Failures;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Ownership;
import io.punctual.server.security.Role;
import io.punctual.server.web.DurabilityHeader;
import io.punctual.server.web.JobFields;
import io.punctual.server.web.JsonBody;
import io.punctual.server.web.JsonFields;
import io.punctual.server.web.Problems;
import io.punctual.server.web.RequestGuard;
import io.punctual.server.web.WebProperties;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
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

  private final ClaimService claims;
  private final JobService jobs;
  private final WebProperties.Api bounds;

  CommandController(ClaimService claims, JobService jobs, WebProperties properties) {
    this.claims = claims;
    this.jobs = jobs;
    this.bounds = properties.api();
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
        Objects.requireNonNullElse(Ownership.application(fields.name("application")), "default")
            // As queues and tokens have it.
            .toLowerCase(Locale.ROOT);
    Command command = new Command(fields, application, request);
    return switch (name == null ? "" : name) {
      case "add" -> now(add(command));
      case "pop" -> pop(command);
      case "finish" -> now(finish(command));
      case "delete" -> now(delete(command));
      case "nack" -> now(nack(command));
      case "release" -> now(release(command));
      case "touch" -> now(touch(command));
      case "get" -> now(get(command));
      default -> throw fields.error("command", "must be one of " + KNOWN);
    };
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
    String body = JobFields.params(fields, "body");
    RetryPolicy retry = JobFields.retry(fields);
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
      throw JobFields.named(fields, e);
    }
    return switch (jobs.submit(new NewJob(command.application(), job, true), false)) {
      case Submitted.Accepted accepted -> {
        DurabilityHeader.add(accepted.reached());
        yield answer(id, null);
      }
      case Submitted.Conflict conflict ->
          throw ApiException.of(
              ErrorCode.CONFLICT,
              "another job has the id "
                  + id
                  + (conflict.ran() == null ? "; " : ": ")
                  + conflict.reason()
                  + ". Choose another id, or "
                  + (conflict.ran() == null ? "delete that job first" : "wait until then"),
              Map.of("id", id));
      case Submitted.InDelivery taken -> throw JobResult.inDelivery(taken.attempt(), "replaced");
      case Submitted.Refused refused -> throw refused.problem();
    };
  }

  private DeferredResult<ResponseEntity<?>> pop(Command command) {
    JsonFields fields = command.fields();
    String topic = command.topic();
    List<String> topics = fields.textList("topics");
    Duration timeout = fields.seconds("timeout", Duration.ZERO, LongPolls.MAX_WAIT);
    boolean many = fields.get("count") != null;
    int count = fields.integer("count", 1, 1, JobStore.MAX_JOBS);
    Duration timeToRun = fields.seconds("TTR", Limits.MIN_TIME_TO_RUN, Limits.MAX_TIME_TO_RUN);
    String worker = JobFields.worker(fields, command.request());
    fields.noMore();
    if ((topic == null) == topics.isEmpty()) {
      throw fields.error("topic", "give either topic, or topics in the order of their priority");
    }
    if (topics.size() > MAX_TOPICS) {
      throw fields.error("topics", "must be at most " + MAX_TOPICS);
    }
    List<QueueName> queues =
        (topic != null ? List.of(topic) : JobFields.names(fields, "topics", topics))
            .stream().map(type -> new QueueName(command.application(), type)).toList();
    return claims.claim(
        new PullRequest(
            queues, count, Objects.requireNonNullElse(timeout, Duration.ZERO), timeToRun, worker),
        () -> RequestGuard.closed(command.request()),
        jobs -> popped(jobs, many),
        null);
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
      JobView job = find(command, topic, id);
      if (job.state() == JobState.FINISHED) {
        return answer(id, null);
      }
      String incarnation = job.incarnation();
      if (incarnation == null || neverBegun(job)) {
        throw ApiException.of(
            ErrorCode.WRONG_STATE,
            "the job is "
                + CommandStates.of(job)
                + " and no worker has begun it: only what was popped can be finished; delete cancels"
                + " it");
      }
      token = new ClaimToken(job.queue(), id, incarnation, NO_LEASE);
    }
    var unused = claims.done(token);
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
    QueueName queue = find(command, topic, id).queue();
    return switch (jobs.cancel(new JobRef(queue, id), null)) {
      case JobResult.Done done -> answer(id, null);
      case JobResult.WrongState wrong ->
          throw JobResult.wrongState(
              wrong.state(),
              switch (wrong.state()) {
                case FINISHED -> "it was finished already";
                case DEAD -> "it is out of attempts or was rejected, and runs no more";
                default ->
                    "a worker has it as attempt " + wrong.attempt() + "; it cannot be deleted";
              },
              wrong.attempt());
      case JobResult.Unknown unknown -> throw JobResult.unknown(unknown.job());
      case JobResult.Changed changed -> throw JobResult.unknown(new JobRef(queue, id));
    };
  }

  private JobView find(Command command, @Nullable String topic, String id) {
    return topic == null
        ? jobs.find(command.application(), id)
        : jobs.find(JobRef.of(command.application(), topic, id));
  }

  private Map<String, Object> nack(Command command) {
    String id = command.id();
    ClaimToken token = requiredToken(command, id);
    Duration delay = command.fields().seconds("delay", Duration.ZERO, Limits.MAX_RETRY_DELAY);
    String error = JobFields.error(command.fields());
    String worker = JobFields.worker(command.fields(), command.request());
    command.fields().noMore();
    boolean dead =
        claims.failed(token, worker, error, delay).outcome() == ClaimService.Outcome.DEAD;
    return answer(id, dead ? "dead" : "delay");
  }

  private Map<String, Object> release(Command command) {
    String id = command.id();
    ClaimToken token = requiredToken(command, id);
    Duration delay = command.fields().seconds("delay", Duration.ZERO, Limits.MAX_RETRY_DELAY);
    command.fields().noMore();
    var unused = claims.release(token, delay);
    return answer(id, "delay");
  }

  private Map<String, Object> touch(Command command) {
    String id = command.id();
    ClaimToken token = requiredToken(command, id);
    Duration timeToRun =
        command.fields().seconds("TTR", Limits.MIN_TIME_TO_RUN, Limits.MAX_TIME_TO_RUN);
    command.fields().noMore();
    return answer(id, claims.extend(token, timeToRun));
  }

  private Map<String, Object> get(Command command) {
    String id = command.id();
    String topic = command.topic();
    command.fields().noMore();
    JobView job = find(command, topic, id);
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
  ResponseEntity<Map<String, Object>> onAnything(Exception e, HttpServletRequest request) {
    ApiException problem = Failures.of(e);
    ResponseEntity.BodyBuilder builder =
        ResponseEntity.status(problem.status()).contentType(MediaType.APPLICATION_JSON);
    String retryAfter = problem.retryAfterSeconds();
    if (retryAfter != null) {
      builder.header(HttpHeaders.RETRY_AFTER, retryAfter);
    }
    return builder.body(Problems.commandFailure((String) request.getAttribute(ID), problem));
  }
}
