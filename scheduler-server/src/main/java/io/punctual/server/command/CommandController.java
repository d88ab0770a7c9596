package io.punctual.server.command;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.punctual.DelayQueueJob;
import io.punctual.ErrorCode;
import io.punctual.RetryPolicy;
import io.punctual.conflict.OnConflict;
import io.punctual.core.ClaimToken;
import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.job.JobState;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.query.JobView;
import io.punctual.server.input.Body;
import io.punctual.server.input.ConflictFields;
import io.punctual.server.input.JobFields;
import io.punctual.server.input.RequestBinding;
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
import io.punctual.server.web.Problems;
import io.punctual.server.web.RequestGuard;
import io.punctual.server.web.StoreHeaders;
import io.punctual.wire.Limits;
import jakarta.servlet.http.HttpServletRequest;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The command protocol: one address, a JSON object in, {@code success}, {@code error}, {@code id}
 * and {@code value} out. docs/command.md is its definition.
 */
@RestController
class CommandController {

  /** Where it is. */
  static final String PATH = Problems.COMMAND;

  private static final String KNOWN =
      "add, pop, finish, delete, restore, nack, release, touch, get";
  private static final List<String> COMMON = List.of("command", "application");
  private static final Map<String, List<String>> FIELDS =
      Map.of(
          "add",
              List.of(
                  "topic",
                  "id",
                  "delay",
                  "TTR",
                  "body",
                  "retry",
                  "headers",
                  "tags",
                  "onConflict",
                  "quiet",
                  "atMost",
                  "keep",
                  "whileRunning"),
          "pop", List.of("topic", "topics", "timeout", "count", "TTR", "worker"),
          "finish", List.of("id", "topic", "token"),
          "delete", List.of("id", "topic"),
          "restore", List.of("id", "topic"),
          "nack", List.of("id", "topic", "token", "delay", "error", "worker"),
          "release", List.of("id", "topic", "token", "delay"),
          "touch", List.of("id", "topic", "token", "TTR"),
          "get", List.of("id", "topic"));

  private static final Duration MAX_DELAY = Duration.between(Instant.EPOCH, Limits.MAX_DUE);
  private static final int MAX_TOPICS = 32;
  private static final int MAX_SHOWN = 128;
  private static final String ID = CommandController.class.getName() + ".id";
  private static final LeaseToken NO_LEASE = new LeaseToken("none");

  private final ClaimService claims;
  private final JobService jobs;

  CommandController(ClaimService claims, JobService jobs) {
    this.claims = claims;
    this.jobs = jobs;
  }

  /**
   * A command, with the fields of all of them, times in seconds; {@link #FIELDS} has each one's.
   */
  record Command(
      @Nullable String command,
      String application,
      @Nullable String topic,
      @Nullable List<String> topics,
      @Nullable String id,
      @Nullable String token,
      @Nullable BigDecimal delay,
      @JsonProperty("TTR") @Nullable BigDecimal timeToRun,
      @Nullable BigDecimal timeout,
      @Nullable Integer count,
      @Nullable String worker,
      @Nullable String error,
      @Nullable String body,
      @Nullable RetryPolicy retry,
      @Nullable Map<String, String> headers,
      @Nullable List<String> tags,
      @Nullable String onConflict,
      @Nullable BigDecimal quiet,
      @Nullable BigDecimal atMost,
      @Nullable String keep,
      @Nullable String whileRunning) {

    Command {
      String checked = JobFields.name("application", application);
      application =
          Objects.requireNonNullElse(Ownership.application(checked), "default")
              // As queues and tokens have it.
              .toLowerCase(Locale.ROOT);
      topic = JobFields.name("topic", topic);
      id = JobFields.taskId("id", id);
    }

    private String requiredId() {
      return JobFields.required("id", id);
    }

    private @Nullable Duration ttr() {
      return JobFields.seconds("TTR", timeToRun, Limits.MIN_TIME_TO_RUN, Limits.MAX_TIME_TO_RUN);
    }

    private ConflictFields conflict() {
      return new ConflictFields(
          onConflict,
          JobFields.seconds("quiet", quiet, Duration.ZERO, JobFields.MAX_DELAY),
          JobFields.seconds("atMost", atMost, Duration.ZERO, JobFields.MAX_DELAY),
          keep,
          whileRunning);
    }

    private @Nullable Duration retryDelay() {
      return JobFields.seconds("delay", delay, Duration.ZERO, Limits.MAX_RETRY_DELAY);
    }
  }

  /** An answer; of a pop that names no count, with what is told of the job. */
  record Answer(
      boolean success,
      @Nullable String error,
      @Nullable String id,
      @Nullable Object value,
      @JsonUnwrapped @Nullable Details job) {

    Answer(@Nullable String id, @Nullable Object value) {
      this(true, null, id, value, null);
    }
  }

  /** What is told of a job that was popped: TTR in seconds, delayTime in epoch ms. */
  record Details(
      String topic, int attempt, String token, @JsonProperty("TTR") Number ttr, long delayTime) {}

  record Popped(String id, String value, @JsonUnwrapped Details job) {

    private static Popped of(PulledJob job) {
      ClaimToken token = job.token();
      // Whole seconds look like whole seconds.
      BigDecimal ttr = BigDecimal.valueOf(job.timeToRun(), 3).stripTrailingZeros();
      return new Popped(
          token.taskId(),
          job.content().params(),
          new Details(
              token.queue().taskType(),
              job.attempt(),
              token.text(),
              ttr.scale() > 0 ? (Number) ttr : (Number) ttr.longValueExact(),
              job.dueTime()));
    }
  }

  /** A job as {@code get} shows it; delayTime, in epoch ms, only where it waits. */
  record Shown(
      String topic, String state, @Nullable String body, @Nullable Long delayTime, int attempts) {}

  @Allowed(value = Role.ADMIN, applications = true)
  @PostMapping(PATH)
  DeferredResult<ResponseEntity<?>> run(@Body ObjectNode json, HttpServletRequest request) {
    // For an answer, whatever else is wrong with the command.
    JsonNode id = json.get("id");
    if (id != null && id.isString() && id.stringValue().length() <= MAX_SHOWN) {
      request.setAttribute(ID, id.stringValue());
    }
    Command command = RequestBinding.bind(json, Command.class, "");
    String name = Objects.requireNonNullElse(command.command(), "");
    check(name, json);
    return switch (name) {
      case "add" -> now(add(command));
      case "finish" -> now(finish(command));
      case "delete" -> now(delete(command));
      case "restore" -> now(restore(command));
      case "nack" -> now(nack(command, request));
      case "release" -> now(release(command));
      case "touch" -> now(touch(command));
      case "get" -> now(get(command));
      default -> pop(command, request);
    };
  }

  private static void check(String name, ObjectNode json) {
    List<String> fields = FIELDS.get(name);
    if (fields == null) {
      throw ApiException.invalid("command", "must be one of " + KNOWN);
    }
    for (String field : json.propertyNames()) {
      if (!fields.contains(field) && !COMMON.contains(field)) {
        throw RequestBinding.unknown(
            field, Stream.concat(COMMON.stream(), fields.stream()).toList());
      }
    }
  }

  private static DeferredResult<ResponseEntity<?>> now(Answer answer) {
    DeferredResult<ResponseEntity<?>> result = new DeferredResult<>();
    result.setResult(ResponseEntity.ok(answer));
    return result;
  }

  private Answer add(Command command) {
    String topic = JobFields.required("topic", command.topic());
    String id = command.requiredId();
    Duration delay = JobFields.seconds("delay", command.delay(), Duration.ZERO, MAX_DELAY);
    Duration timeToRun = command.ttr();
    String body = JobFields.params("body", command.body());
    ConflictFields rule = command.conflict();
    OnConflict onConflict = rule.read();
    if (onConflict.isDebounce()) {
      if (delay != null) {
        throw ApiException.invalid(
            "delay",
            "must not be given with onConflict debounce: quiet and atMost say when the job is due");
      }
      delay = rule.quiet();
    }
    if (delay == null) {
      throw ApiException.invalid(
          "delay", "is missing: give the seconds from now until the job is due");
    }
    DelayQueueJob job;
    try {
      job =
          DelayQueueJob.of(topic)
              .taskId(id)
              .delay(delay)
              .params(body)
              .timeToRun(timeToRun)
              .retry(command.retry())
              .headers(Objects.requireNonNullElse(command.headers(), Map.of()))
              .tags(Objects.requireNonNullElse(command.tags(), List.of()))
              .onConflict(onConflict)
              .build();
    } catch (IllegalArgumentException e) {
      throw JobFields.named(e);
    }
    return switch (jobs.submit(new NewJob(command.application(), job, true))) {
      case Submitted.Accepted accepted -> {
        StoreHeaders.add(accepted.reached());
        yield new Answer(id, null);
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

  private DeferredResult<ResponseEntity<?>> pop(Command command, HttpServletRequest request) {
    String topic = command.topic();
    List<String> topics = JobFields.names("topics", command.topics());
    if ((topic == null) == topics.isEmpty()) {
      throw ApiException.invalid(
          "topic", "give either topic, or topics in the order of their priority");
    } else if (topics.size() > MAX_TOPICS) {
      throw ApiException.invalid("topics", "must be at most " + MAX_TOPICS);
    }
    Duration timeout =
        JobFields.seconds("timeout", command.timeout(), Duration.ZERO, LongPolls.MAX_WAIT);
    return claims.claim(
        new PullRequest(
            (topic != null ? List.of(topic) : topics)
                .stream().map(type -> new QueueName(command.application(), type)).toList(),
            JobFields.integer("count", command.count(), 1, 1, JobStore.MAX_JOBS),
            Objects.requireNonNullElse(timeout, Duration.ZERO),
            command.ttr(),
            JobFields.worker(command.worker(), request)),
        () -> RequestGuard.closed(request),
        jobs -> popped(jobs, command.count() != null),
        null);
  }

  private static Answer popped(List<PulledJob> jobs, boolean many) {
    List<Popped> popped = jobs.stream().map(Popped::of).toList();
    if (many) {
      return new Answer(null, popped);
    } else if (popped.isEmpty()) {
      return new Answer(null, null);
    }
    Popped first = popped.get(0);
    return new Answer(true, null, first.id(), first.value(), first.job());
  }

  private Answer finish(Command command) {
    String id = command.requiredId();
    ClaimToken token = command.token() == null ? null : token(command, id);
    if (token == null) {
      JobView job = find(command, id);
      if (job.state() == JobState.FINISHED) {
        return new Answer(id, null);
      }
      String incarnation = job.incarnation();
      if (incarnation == null || neverBegun(job)) {
        throw ApiException.of(
            ErrorCode.WRONG_STATE,
            "the job is "
                + state(job)
                + " and no worker has begun it: only what was popped can be finished; delete"
                + " cancels it");
      }
      token = new ClaimToken(job.queue(), id, incarnation, NO_LEASE);
    }
    var unused = claims.done(token);
    return new Answer(id, null);
  }

  private static boolean neverBegun(JobView job) {
    return job.state() == JobState.CANCELLED
        || (job.state() == JobState.DELAYED && job.tries().attempts() == 0);
  }

  private Answer delete(Command command) {
    String id = command.requiredId();
    QueueName queue = find(command, id).queue();
    return switch (jobs.cancel(new JobRef(queue, id), null, /* interrupt= */ false)) {
      case JobResult.Done done -> new Answer(id, null);
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

  /** Undoes a delete. */
  private Answer restore(Command command) {
    String id = command.requiredId();
    var unused = jobs.restore(new JobRef(find(command, id).queue(), id)).orThrow();
    return new Answer(id, null);
  }

  private JobView find(Command command, String id) {
    String topic = command.topic();
    return topic == null
        ? jobs.find(command.application(), id)
        : jobs.find(JobRef.of(command.application(), topic, id));
  }

  private Answer nack(Command command, HttpServletRequest request) {
    String id = command.requiredId();
    ClaimService.Settlement settlement =
        claims.failed(
            token(command, id),
            new ClaimService.ReportingWorker(
                command.worker() == null ? null : JobFields.worker(command.worker()),
                JobFields.address(request)),
            Objects.requireNonNullElse(command.error(), ""),
            command.retryDelay());
    return new Answer(id, waits(settlement));
  }

  private Answer release(Command command) {
    String id = command.requiredId();
    return new Answer(id, waits(claims.release(token(command, id), command.retryDelay())));
  }

  /** What a job is that was not finished, as the command protocol names it. */
  private static String waits(ClaimService.Settlement settlement) {
    return switch (settlement.outcome()) {
      case DEAD -> "dead";
      case CANCELLED -> "deleted";
      default -> "delay";
    };
  }

  private Answer touch(Command command) {
    String id = command.requiredId();
    return new Answer(id, claims.extend(token(command, id), command.ttr()).until());
  }

  private Answer get(Command command) {
    String id = command.requiredId();
    JobView job = find(command, id);
    return new Answer(
        id,
        new Shown(
            job.queue().taskType(),
            state(job),
            job.content() == null ? null : job.content().params(),
            job.state() == JobState.DELAYED ? job.at() : null,
            job.attempt()));
  }

  /** The state of a job as the command protocol names it. */
  private static String state(JobView job) {
    return switch (job.state()) {
      case DELAYED -> job.ready() ? "ready" : "delay";
      case RESERVED -> "reserved";
      case DEAD -> "dead";
      case FINISHED, CANCELLED -> "deleted";
    };
  }

  private static ClaimToken token(Command command, String id) {
    String text = command.token();
    if (text == null) {
      throw ApiException.invalid("token", "is missing: give the one that pop answered");
    }
    ClaimToken token;
    try {
      token = ClaimToken.parse(text);
    } catch (IllegalArgumentException e) {
      throw ApiException.invalid("token", String.valueOf(e.getMessage()));
    }
    String topic = command.topic();
    if (!token.taskId().equals(id)
        || !token.queue().application().equals(command.application())
        || (topic != null && !token.queue().taskType().equals(topic))) {
      throw ApiException.invalid("token", "belongs to another job");
    }
    return token;
  }

  @ExceptionHandler
  ResponseEntity<Map<String, Object>> onAnything(Exception e, HttpServletRequest request) {
    return Problems.command((String) request.getAttribute(ID), Failures.of(e));
  }
}
