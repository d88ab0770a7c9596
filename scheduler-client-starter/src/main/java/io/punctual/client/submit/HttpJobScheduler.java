package io.punctual.client.submit;

import io.punctual.BatchItem;
import io.punctual.CancelResult;
import io.punctual.DeferralResult;
import io.punctual.DelayQueueJob;
import io.punctual.ErrorCode;
import io.punctual.InvalidJobException;
import io.punctual.JobInfo;
import io.punctual.JobScheduler;
import io.punctual.Limits;
import io.punctual.PunctualException;
import io.punctual.RequeueResult;
import io.punctual.RescheduleResult;
import io.punctual.StoreLosses;
import io.punctual.SubmitResult;
import io.punctual.TagCancelResult;
import io.punctual.client.ClientIdentity;
import io.punctual.wire.AttemptToken;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/** The jobs are with schedulers, which are called over HTTP. */
public final class HttpJobScheduler implements JobScheduler {

  private static final Logger log = LoggerFactory.getLogger(HttpJobScheduler.class);
  private static final String JOBS = "/api/v1/jobs";

  private final ClientIdentity identity;
  private final SchedulerCalls calls;
  private final SharedSends sends;

  public HttpJobScheduler(ClientIdentity identity, SchedulerCalls calls) {
    this.identity = identity;
    this.calls = calls;
    this.sends = new SharedSends(this::sendAlone, this::sendTogether);
  }

  @Override
  public SubmitResult submit(DelayQueueJob job) {
    return sends.send(job, calls.deadline());
  }

  private SubmitResult sendAlone(DelayQueueJob job, long deadline) {
    SchedulerCalls.Answer answer = calls.call("POST", JOBS, wire(job), deadline);
    if (answer.status() != 200 && answer.status() != 201) {
      throw SchedulerErrors.of(answer);
    }
    return submitted(job.taskId(), answer.body(), answer.durability());
  }

  @Override
  public List<BatchItem> submitAll(List<DelayQueueJob> jobs) {
    if (jobs.isEmpty()) {
      return List.of();
    }
    if (jobs.size() > Limits.MAX_BATCH) {
      throw new InvalidJobException(
          "jobs: at most " + Limits.MAX_BATCH + " in one call, not " + jobs.size());
    }
    return sendTogether(jobs, calls.deadline());
  }

  private List<BatchItem> sendTogether(List<DelayQueueJob> jobs, long deadline) {
    SchedulerCalls.Answer answer =
        calls.call(
            "POST",
            JOBS + "/batch",
            Map.of("jobs", jobs.stream().map(this::wire).toList()),
            deadline);
    JsonNode results = answer.body().get("results");
    if (answer.status() != 200 || results == null || results.size() != jobs.size()) {
      throw SchedulerErrors.of(answer);
    }
    List<BatchItem> items = new ArrayList<>();
    for (int i = 0; i < jobs.size(); i++) {
      JsonNode item = results.get(i);
      JsonNode problem = item.get("problem");
      items.add(
          problem == null
              ? new BatchItem(
                  jobs.get(i).taskId(),
                  submitted(jobs.get(i).taskId(), item, answer.durability()),
                  null)
              : new BatchItem(
                  jobs.get(i).taskId(),
                  null,
                  SchedulerErrors.of(item.get("status").intValue(), problem)));
    }
    return items;
  }

  @Override
  public CancelResult cancel(String taskType, String taskId) {
    SchedulerCalls.Answer answer = calls.call("DELETE", path(taskType, taskId), null);
    return switch (answer.status()) {
      case 200 ->
          new CancelResult(
              CancelResult.Outcome.CANCELLED, 0, version(answer.body()), answer.durability());
      case 404 -> new CancelResult(CancelResult.Outcome.UNKNOWN, 0, 0, "");
      case 409 ->
          new CancelResult(
              switch (answer.text("state")) {
                case "reserved" -> CancelResult.Outcome.IN_DELIVERY;
                case "dead" -> CancelResult.Outcome.DEAD;
                default -> CancelResult.Outcome.FINISHED;
              },
              attempt(answer.body()),
              0,
              "");
      default -> throw SchedulerErrors.of(answer);
    };
  }

  @Override
  public TagCancelResult cancelByTag(String tag) {
    if (!Limits.TAG.matcher(tag).matches()) {
      throw new InvalidJobException("tag " + Limits.TAG_RULE);
    }
    List<TagCancelResult.Item> items = new ArrayList<>();
    Set<String> damaged = new TreeSet<>();
    @Nullable String cursor = null;
    do {
      Map<String, Object> body = new LinkedHashMap<>();
      body.put("application", identity.application());
      body.put("tag", tag);
      if (cursor != null) {
        body.put("cursor", cursor);
      }
      SchedulerCalls.Answer answer = calls.call("POST", JOBS + ":cancel", body);
      JsonNode found = answer.body().get("items");
      if (answer.status() != 200 || found == null) {
        throw SchedulerErrors.of(answer);
      }
      for (JsonNode item : found) {
        String taskType = item.get("taskType").stringValue();
        String outcome = item.get("outcome").stringValue();
        if (outcome.equals("damaged")) {
          damaged.add(taskType);
        } else {
          items.add(
              new TagCancelResult.Item(
                  taskType,
                  item.get("taskId").stringValue(),
                  CancelResult.Outcome.valueOf(outcome.toUpperCase(Locale.ROOT))));
        }
      }
      JsonNode unread = answer.body().get("damaged");
      if (unread != null) {
        unread.forEach(taskType -> damaged.add(taskType.stringValue()));
      }
      cursor = answer.text("nextCursor").isEmpty() ? null : answer.text("nextCursor");
    } while (cursor != null);
    if (!damaged.isEmpty()) {
      throw new PunctualException(
          ErrorCode.INTERNAL,
          "The stored data of these task types is damaged, so that their jobs were not cancelled: "
              + String.join(", ", damaged)
              + ". All others were. The scheduler's doctor says what to do");
    }
    return TagCancelResult.of(items);
  }

  @Override
  public RequeueResult requeue(String taskType, String taskId) {
    SchedulerCalls.Answer answer = calls.call("POST", path(taskType, taskId) + "/requeue", null);
    return switch (answer.status()) {
      case 200 ->
          new RequeueResult(
              RequeueResult.Outcome.REQUEUED, version(answer.body()), answer.durability());
      case 404 -> new RequeueResult(RequeueResult.Outcome.UNKNOWN, 0, "");
      case 409 -> new RequeueResult(RequeueResult.Outcome.NOT_DEAD, 0, "");
      default -> throw SchedulerErrors.of(answer);
    };
  }

  @Override
  public List<JobInfo> deadLetters(String taskType, int max) {
    if (max < 1 || max > Limits.MAX_DEAD_LETTERS) {
      throw new InvalidJobException(
          "max must be between 1 and " + Limits.MAX_DEAD_LETTERS + ", but was " + max);
    }
    SchedulerCalls.Answer answer =
        calls.call(
            "GET",
            JOBS
                + "?application="
                + identity.application()
                + "&taskType="
                + name("taskType", taskType)
                + "&state=dead&limit="
                + max,
            null);
    JsonNode found = answer.body().get("items");
    if (answer.status() != 200 || found == null) {
      throw SchedulerErrors.of(answer);
    }
    List<JobInfo> dead = new ArrayList<>();
    found.forEach(job -> dead.add(info(job)));
    return dead;
  }

  @Override
  public Optional<JobInfo> find(String taskType, String taskId) {
    SchedulerCalls.Answer answer = calls.call("GET", path(taskType, taskId), null);
    return switch (answer.status()) {
      case 200 -> Optional.of(info(answer.body()));
      case 404 -> Optional.empty();
      default -> throw SchedulerErrors.of(answer);
    };
  }

  @Override
  public StoreLosses storeLosses() {
    SchedulerCalls.Answer answer = calls.call("GET", "/api/v1/store/losses", null);
    JsonNode losses = answer.body().get("losses");
    if (answer.status() != 200 || losses == null) {
      throw SchedulerErrors.of(answer);
    }
    List<StoreLosses.Loss> all = new ArrayList<>();
    for (JsonNode loss : losses) {
      JsonNode asOf = loss.get("asOf");
      all.add(
          new StoreLosses.Loss(
              loss.get("sequence").longValue(),
              asOf.isNull() ? null : Instant.parse(asOf.stringValue())));
    }
    JsonNode store = answer.body().get("store");
    return new StoreLosses(
        store.isNull() ? null : store.stringValue(),
        Instant.parse(answer.text("now")),
        Instant.parse(answer.text("begunAt")),
        all);
  }

  @Override
  public RescheduleResult reschedule(String taskType, String taskId, Instant dueAt) {
    return move(taskType, taskId, Map.of("delayTime", dueAt.toEpochMilli()));
  }

  @Override
  public RescheduleResult reschedule(String taskType, String taskId, Duration delay) {
    return move(taskType, taskId, Map.of("delay", delay.toMillis()));
  }

  private RescheduleResult move(String taskType, String taskId, Map<String, Object> due) {
    SchedulerCalls.Answer answer = calls.call("PATCH", path(taskType, taskId), due);
    return switch (answer.status()) {
      case 200 ->
          new RescheduleResult(
              RescheduleResult.Outcome.RESCHEDULED,
              Instant.parse(answer.text("dueAt")),
              0,
              version(answer.body()),
              answer.durability());
      case 404 -> new RescheduleResult(RescheduleResult.Outcome.UNKNOWN, null, 0, 0, "");
      case 409 ->
          new RescheduleResult(
              switch (answer.text("state")) {
                case "reserved" -> RescheduleResult.Outcome.IN_DELIVERY;
                case "dead" -> RescheduleResult.Outcome.DEAD;
                default -> RescheduleResult.Outcome.FINISHED;
              },
              null,
              attempt(answer.body()),
              0,
              "");
      default -> throw SchedulerErrors.of(answer);
    };
  }

  @Override
  public DeferralResult finish(String handle) {
    return end(handle, "ack", null);
  }

  @Override
  public DeferralResult fail(String handle, String reason, @Nullable Duration delay) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("error", reason);
    if (delay != null) {
      body.put("delay", delay.toMillis());
    }
    return end(handle, "nack", body);
  }

  @Override
  public DeferralResult reject(String handle, String reason) {
    return end(handle, "reject", Map.of("error", reason));
  }

  @Override
  public DeferralResult extend(String handle, Duration within) {
    return end(handle, "extend", Map.of("timeToRun", within.toMillis()));
  }

  private DeferralResult end(String handle, String how, @Nullable Map<String, Object> body) {
    var unused = AttemptToken.ofHandle(handle, identity.application());
    SchedulerCalls.Answer answer = calls.call("POST", "/api/v1/claims/" + handle + "/" + how, body);
    return switch (answer.status()) {
      case 200 ->
          switch (answer.text("outcome")) {
            case "done" -> new DeferralResult(DeferralResult.Outcome.DONE, null);
            case "already_done" -> new DeferralResult(DeferralResult.Outcome.ALREADY_DONE, null);
            case "dead" -> new DeferralResult(DeferralResult.Outcome.DEAD, null);
            case "extended" ->
                new DeferralResult(
                    DeferralResult.Outcome.EXTENDED, Instant.parse(answer.text("until")));
            default ->
                new DeferralResult(
                    DeferralResult.Outcome.RETRY, Instant.parse(answer.text("dueAt")));
          };
      case 404 -> new DeferralResult(DeferralResult.Outcome.UNKNOWN, null);
      case 409 -> new DeferralResult(DeferralResult.Outcome.LEASE_LOST, null);
      default -> throw SchedulerErrors.of(answer);
    };
  }

  private String path(String taskType, String taskId) {
    return JOBS
        + "/"
        + identity.application()
        + "/"
        + name("taskType", taskType)
        + "/"
        + name("taskId", taskId);
  }

  private static String name(String field, String value) {
    try {
      return Limits.requireName(field, value);
    } catch (IllegalArgumentException e) {
      throw new InvalidJobException(String.valueOf(e.getMessage()));
    }
  }

  private WireJob wire(DelayQueueJob job) {
    return new WireJob(
        identity.application(),
        job.taskType(),
        job.taskId(),
        job.delayTime(),
        job.delay() == null ? null : job.delay().toMillis(),
        job.params(),
        job.timeToRun() == null ? null : job.timeToRun().toMillis(),
        job.retry() == null ? null : job.retry().text(),
        job.tags(),
        job.headers());
  }

  private static SubmitResult submitted(String taskId, JsonNode body, String durability) {
    SubmitResult.Outcome outcome =
        SubmitResult.Outcome.valueOf(body.get("outcome").stringValue().toUpperCase(Locale.ROOT));
    JsonNode hint = body.get("hint");
    if (hint != null) {
      log.debug("Job {} waits for a worker: {}", taskId, hint.stringValue());
    }
    return new SubmitResult(
        taskId,
        Instant.ofEpochMilli(body.get("delayTime").longValue()),
        outcome,
        outcome == SubmitResult.Outcome.CREATED ? 1 : version(body),
        durability);
  }

  private static JobInfo info(JsonNode job) {
    JobInfo.State state =
        JobInfo.State.valueOf(job.get("state").stringValue().toUpperCase(Locale.ROOT));
    JsonNode attempts = job.get("attempts");
    JsonNode params = job.get("params");
    Map<String, String> headers = new LinkedHashMap<>();
    JsonNode given = job.get("headers");
    if (given != null) {
      given
          .properties()
          .forEach(header -> headers.put(header.getKey(), header.getValue().stringValue()));
    }
    List<String> tags = new ArrayList<>();
    JsonNode tagged = job.get("tags");
    if (tagged != null) {
      tagged.forEach(tag -> tags.add(tag.stringValue()));
    }
    JsonNode lastError = job.get("lastError");
    return new JobInfo(
        job.get("taskType").stringValue(),
        job.get("taskId").stringValue(),
        state,
        at(state, job),
        version(job),
        attempts == null ? null : attempts.get("counted").intValue(),
        attempts == null ? null : attempts.get("max").intValue(),
        params == null ? null : params.stringValue(),
        headers,
        tags,
        lastError == null ? null : SchedulerErrors.text(lastError, "message", ""));
  }

  private static Instant at(JobInfo.State state, JsonNode job) {
    JsonNode at =
        switch (state) {
          case DELAYED -> job.get("dueAt");
          case RESERVED -> job.get("lease").get("until");
          case DEAD -> job.get("diedAt");
          case FINISHED -> job.get("finishedAt");
          case CANCELLED -> job.get("cancelledAt");
        };
    return Instant.parse(at.stringValue());
  }

  private static long version(JsonNode body) {
    JsonNode version = body.get("version");
    return version == null ? 0 : version.longValue();
  }

  private static int attempt(JsonNode body) {
    JsonNode attempt = body.get("attempt");
    return attempt == null ? 0 : attempt.intValue();
  }
}
