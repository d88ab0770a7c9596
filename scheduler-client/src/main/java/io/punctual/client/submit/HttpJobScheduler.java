package io.punctual.client.submit;

import io.punctual.BatchItem;
import io.punctual.CancelResult;
import io.punctual.DeferralResult;
import io.punctual.DelayQueueJob;
import io.punctual.ErrorCode;
import io.punctual.InvalidJobException;
import io.punctual.JobInfo;
import io.punctual.PunctualException;
import io.punctual.RequeueResult;
import io.punctual.RescheduleResult;
import io.punctual.RetryPolicy;
import io.punctual.SubmitResult;
import io.punctual.TagCancelResult;
import io.punctual.TaskSubmitService.EventResult;
import io.punctual.TaskSubmitService.RestoreResult;
import io.punctual.TaskSubmitService.Running;
import io.punctual.client.ClientIdentity;
import io.punctual.client.json.JsonObject;
import io.punctual.conflict.OnConflict;
import io.punctual.internal.AttemptToken;
import io.punctual.schedule.Schedule;
import io.punctual.schedule.ScheduleResult;
import io.punctual.schedule.TimeRules;
import io.punctual.spi.JobScheduler;
import io.punctual.spi.StoreLosses;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The jobs are with schedulers, which are called over HTTP. */
public final class HttpJobScheduler implements JobScheduler {

  private static final Logger log = LoggerFactory.getLogger(HttpJobScheduler.class);
  private static final String JOBS = "/api/v1/jobs";
  private static final String SCHEDULES = "/api/v1/schedules";

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
    SchedulerCalls.Answer answer = calls.call("POST", JOBS + query(job), wire(job), deadline);
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
          "jobs: at most " + Limits.MAX_BATCH + " are allowed in one call, not " + jobs.size());
    }
    // In order; one request has one answer to what is there.
    List<BatchItem> items = new ArrayList<>();
    for (int from = 0, to; from < jobs.size(); from = to) {
      String query = query(jobs.get(from));
      to = from + 1;
      while (to < jobs.size() && query(jobs.get(to)).equals(query)) {
        to++;
      }
      items.addAll(sendTogether(jobs.subList(from, to), calls.deadline()));
    }
    return items;
  }

  /** Sends jobs in one request, which all want the same if a job of their id is there. */
  private List<BatchItem> sendTogether(List<DelayQueueJob> jobs, long deadline) {
    SchedulerCalls.Answer answer =
        calls.call(
            "POST",
            JOBS + "/batch" + query(jobs.get(0)),
            Map.of("jobs", jobs.stream().map(this::wire).toList()),
            deadline);
    List<JsonObject> results = answer.body().objects("results");
    if (answer.status() != 200 || results == null || results.size() != jobs.size()) {
      throw SchedulerErrors.of(answer);
    }
    List<BatchItem> items = new ArrayList<>();
    for (int i = 0; i < jobs.size(); i++) {
      JsonObject item = results.get(i);
      JsonObject problem = item.object("problem");
      items.add(
          problem == null
              ? new BatchItem(
                  jobs.get(i).taskId(),
                  submitted(jobs.get(i).taskId(), item, answer.durability()),
                  null)
              : new BatchItem(
                  jobs.get(i).taskId(),
                  null,
                  SchedulerErrors.of((int) item.number("status"), problem)));
    }
    return items;
  }

  @Override
  public CancelResult cancel(String taskType, String taskId, Running running) {
    String query = running == Running.INTERRUPT ? "?running=interrupt" : "";
    SchedulerCalls.Answer answer = calls.call("DELETE", path(taskType, taskId) + query, null);
    return switch (answer.status()) {
      case 202 ->
          new CancelResult(
              CancelResult.Outcome.CANCELLING,
              (int) answer.body().number("attempt", 0),
              answer.body().number("version", 0),
              answer.durability());
      case 200 ->
          new CancelResult(
              CancelResult.Outcome.CANCELLED,
              0,
              answer.body().number("version", 0),
              answer.durability());
      case 404 -> new CancelResult(CancelResult.Outcome.UNKNOWN, 0, 0, "");
      case 409 ->
          new CancelResult(
              switch (answer.text("state")) {
                case "reserved" -> CancelResult.Outcome.IN_DELIVERY;
                case "dead" -> CancelResult.Outcome.DEAD;
                default -> CancelResult.Outcome.FINISHED;
              },
              (int) answer.body().number("attempt", 0),
              0,
              "");
      default -> throw SchedulerErrors.of(answer);
    };
  }

  @Override
  public RestoreResult restore(String taskType, String taskId) {
    SchedulerCalls.Answer answer = calls.call("POST", path(taskType, taskId) + "/restore", null);
    return switch (answer.status()) {
      case 200 ->
          new RestoreResult(
              RestoreResult.Outcome.RESTORED,
              answer.body().has("dueAt") ? Instant.parse(answer.text("dueAt")) : null,
              answer.body().number("version", 0),
              answer.durability());
      case 404 -> RestoreResult.refused(RestoreResult.Outcome.UNKNOWN);
      case 409 ->
          RestoreResult.refused(
              switch (answer.text("state")) {
                case "cancelled" -> RestoreResult.Outcome.NOT_KEPT;
                case "finished" -> RestoreResult.Outcome.FINISHED;
                default -> RestoreResult.Outcome.EXISTS;
              });
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
      List<JsonObject> found = answer.body().objects("items");
      if (answer.status() != 200 || found == null) {
        throw SchedulerErrors.of(answer);
      }
      for (JsonObject item : found) {
        String taskType = item.text("taskType");
        String outcome = item.text("outcome");
        if (outcome.equals("damaged")) {
          damaged.add(taskType);
        } else {
          items.add(
              new TagCancelResult.Item(
                  taskType,
                  item.text("taskId"),
                  CancelResult.Outcome.valueOf(outcome.toUpperCase(Locale.ROOT))));
        }
      }
      damaged.addAll(answer.body().texts("damaged"));
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

  private static void putEvents(
      Map<String, Object> wire, String field, List<DelayQueueJob.Event> events) {
    if (!events.isEmpty()) {
      wire.put(field, events.stream().map(HttpJobScheduler::wire).toList());
    }
  }

  private static Map<String, Object> wire(DelayQueueJob.Event event) {
    return Map.of("name", event.name(), "key", event.key());
  }

  @Override
  public EventResult event(DelayQueueJob.Event event) {
    Map<String, Object> body = new LinkedHashMap<>(wire(event));
    body.put("applications", List.of(identity.application()));
    SchedulerCalls.Answer answer = calls.call("POST", "/api/v1/events", body);
    List<JsonObject> found = answer.body().objects("items");
    if (answer.status() != 200 || found == null) {
      throw SchedulerErrors.of(answer);
    }
    List<String> damaged = answer.body().texts("damaged");
    if (!damaged.isEmpty()) {
      throw new PunctualException(
          ErrorCode.INTERNAL,
          "The stored data of these queues is damaged, and their jobs may have missed the"
              + " event: "
              + String.join(", ", damaged)
              + ". All other jobs have received it. The scheduler's doctor names the remedy");
    }
    return new EventResult(
        found.stream()
            .map(
                item ->
                    new EventResult.Item(
                        item.text("taskType"),
                        item.text("taskId"),
                        EventResult.Outcome.valueOf(item.text("outcome").toUpperCase(Locale.ROOT))))
            .toList(),
        false);
  }

  @Override
  public RequeueResult requeue(String taskType, String taskId) {
    SchedulerCalls.Answer answer = calls.call("POST", path(taskType, taskId) + "/requeue", null);
    return switch (answer.status()) {
      case 200 ->
          new RequeueResult(
              RequeueResult.Outcome.REQUEUED,
              answer.body().number("version", 0),
              answer.durability());
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
    List<JsonObject> found = answer.body().objects("items");
    if (answer.status() != 200 || found == null) {
      throw SchedulerErrors.of(answer);
    }
    return found.stream().map(HttpJobScheduler::info).toList();
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
    List<JsonObject> losses = answer.body().objects("losses");
    if (answer.status() != 200 || losses == null) {
      throw SchedulerErrors.of(answer);
    }
    List<StoreLosses.Loss> all = new ArrayList<>();
    for (JsonObject loss : losses) {
      all.add(
          new StoreLosses.Loss(
              loss.number("sequence"), loss.has("asOf") ? Instant.parse(loss.text("asOf")) : null));
    }
    return new StoreLosses(
        answer.body().has("store") ? answer.text("store") : null,
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
              answer.body().number("version", 0),
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
              (int) answer.body().number("attempt", 0),
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
            case "cancelled" -> new DeferralResult(DeferralResult.Outcome.CANCELLED, null);
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

  @Override
  public ScheduleResult put(Schedule schedule) {
    SchedulerCalls.Answer answer =
        calls.call("PUT", path(schedule.taskType(), schedule.id(), SCHEDULES), wire(schedule));
    if (answer.status() != 200 && answer.status() != 201) {
      throw SchedulerErrors.of(answer);
    }
    String next = answer.text("nextAt");
    return new ScheduleResult(
        ScheduleResult.Outcome.valueOf(answer.text("outcome").toUpperCase(Locale.ROOT)),
        next.isEmpty() ? null : Instant.parse(next));
  }

  @Override
  public boolean deleteSchedule(String taskType, String id) {
    SchedulerCalls.Answer answer = calls.call("DELETE", path(taskType, id, SCHEDULES), null);
    return switch (answer.status()) {
      case 200 -> true;
      case 404 -> false;
      default -> throw SchedulerErrors.of(answer);
    };
  }

  @Override
  public void declareSchedules(List<String> taskTypes) {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("application", identity.application());
    body.put("taskTypes", taskTypes);
    SchedulerCalls.Answer answer = calls.call("POST", SCHEDULES + "/declare", body);
    if (answer.status() != 200) {
      throw SchedulerErrors.of(answer);
    }
  }

  /** Returns a schedule as schedulers read it: what it does not say is left out. */
  private static Map<String, Object> wire(Schedule schedule) {
    Map<String, Object> wire = new LinkedHashMap<>();
    put(wire, "cron", schedule.cron());
    put(wire, "every", schedule.every());
    put(wire, "anchor", schedule.anchor());
    put(wire, "zone", zoneName(schedule.zone()));
    put(wire, "gap", schedule.gap());
    put(wire, "fold", schedule.fold());
    put(wire, "from", schedule.from());
    put(wire, "until", schedule.until());
    List<String> exclude = new ArrayList<>();
    schedule.exclude().forEach(date -> exclude.add(date.toString()));
    exclude.addAll(schedule.calendars());
    if (!exclude.isEmpty()) {
      wire.put("exclude", exclude);
    }
    put(wire, "missed", schedule.missed());
    put(wire, "missedWithin", schedule.missedWithin());
    put(wire, "whileRunning", schedule.whileRunning());
    put(wire, "jitter", schedule.jitter());
    put(wire, "params", schedule.params());
    put(wire, "timeToRun", schedule.timeToRun());
    put(wire, "retry", schedule.retry());
    if (!schedule.headers().isEmpty()) {
      wire.put("headers", schedule.headers());
    }
    if (!schedule.tags().isEmpty()) {
      wire.put("tags", schedule.tags());
    }
    return wire;
  }

  /** UTC, which is the default, is called Z as a ZoneOffset. */
  private static @Nullable String zoneName(@Nullable ZoneId zone) {
    return zone == null || zone.getId().equals("Z") ? null : zone.getId();
  }

  private static void put(Map<String, Object> wire, String name, @Nullable Object value) {
    if (value instanceof Duration duration) {
      wire.put(name, duration.toMillis());
    } else if (value instanceof Enum<?> word) {
      wire.put(name, word.name().toLowerCase(Locale.ROOT));
    } else if (value != null) {
      wire.put(name, value.toString());
    }
  }

  private String path(String taskType, String id, String root) {
    return root
        + "/"
        + identity.application()
        + "/"
        + name("taskType", taskType)
        + "/"
        + name("id", id);
  }

  private String path(String taskType, String taskId) {
    return JOBS
        + "/"
        + identity.application()
        + "/"
        + name("taskType", taskType)
        + "/"
        + taskId(taskId);
  }

  private static String name(String field, String value) {
    try {
      return Limits.requireName(field, value);
    } catch (IllegalArgumentException e) {
      throw new InvalidJobException(String.valueOf(e.getMessage()));
    }
  }

  private static String taskId(String value) {
    try {
      return Limits.requireTaskId(value);
    } catch (IllegalArgumentException e) {
      throw new InvalidJobException(String.valueOf(e.getMessage()));
    }
  }

  /** Returns what a scheduler shall do if a job of that id is there; empty for the usual. */
  static String query(DelayQueueJob job) {
    OnConflict onConflict = job.onConflict();
    Duration atMost = onConflict.atMost();
    return switch (onConflict.rule()) {
      case REFUSE -> "";
      case REPLACE -> "?onConflict=replace";
      case QUEUE_ONE, DROP, REPLACE_QUEUED ->
          "?whileRunning=" + onConflict.rule().name().toLowerCase(Locale.ROOT);
      case DEBOUNCE_LAST, DEBOUNCE_FIRST ->
          "?onConflict=debounce&quiet="
              + Objects.requireNonNull(job.delay()).toMillis()
              + "&atMost="
              + Objects.requireNonNull(atMost).toMillis()
              + (onConflict.rule() == OnConflict.Rule.DEBOUNCE_FIRST ? "&keep=first" : "");
    };
  }

  /** Returns a job as schedulers read it: what it does not say is left out. */
  private Map<String, Object> wire(DelayQueueJob job) {
    Map<String, Object> wire = new LinkedHashMap<>();
    wire.put("application", identity.application());
    wire.put("taskType", job.taskType());
    wire.put("taskId", job.taskId());
    Long delayTime = job.delayTime();
    if (delayTime != null) {
      wire.put("delayTime", delayTime);
    }
    Duration delay = job.delay();
    if (delay != null && !job.onConflict().isDebounce()) {
      wire.put("delay", delay.toMillis());
    }
    if (!job.params().isEmpty()) {
      wire.put("params", job.params());
    }
    Duration timeToRun = job.timeToRun();
    if (timeToRun != null) {
      wire.put("timeToRun", timeToRun.toMillis());
    }
    RetryPolicy retry = job.retry();
    if (retry != null) {
      wire.put("retry", retry.text());
    }
    if (!job.tags().isEmpty()) {
      wire.put("tags", job.tags());
    }
    putEvents(wire, "cancelOn", job.cancelOn());
    putEvents(wire, "runOn", job.runOn());
    if (!job.headers().isEmpty()) {
      wire.put("headers", job.headers());
    }
    TimeRules rules = job.timeRules();
    put(wire, "notAfter", rules.notAfter());
    put(wire, "expiresIn", rules.expiresIn());
    put(wire, "within", rules.within());
    put(wire, "window", rules.window());
    put(wire, "windowZone", zoneName(rules.windowZone()));
    put(wire, "calendar", rules.calendar());
    return wire;
  }

  private static SubmitResult submitted(String taskId, JsonObject body, String durability) {
    SubmitResult.Outcome outcome =
        SubmitResult.Outcome.valueOf(body.text("outcome").toUpperCase(Locale.ROOT));
    if (body.has("hint")) {
      String event = body.has("served") ? "Job {} waits for a worker: {}" : "Job {}: {}";
      log.debug(event, taskId, body.text("hint"));
    }
    return new SubmitResult(
        taskId,
        Instant.ofEpochMilli(body.number("delayTime")),
        outcome,
        outcome == SubmitResult.Outcome.CREATED ? 1 : body.number("version", 0),
        durability);
  }

  private static JobInfo info(JsonObject job) {
    JobInfo.State state = JobInfo.State.valueOf(job.text("state").toUpperCase(Locale.ROOT));
    JsonObject attempts = job.object("attempts");
    JsonObject lastError = job.object("lastError");
    return new JobInfo(
        job.text("taskType"),
        job.text("taskId"),
        state,
        at(state, job),
        job.number("version", 0),
        attempts == null ? null : (int) attempts.number("counted"),
        attempts == null ? null : (int) attempts.number("max"),
        job.has("params") ? job.text("params") : null,
        job.textsByName("headers"),
        job.texts("tags"),
        lastError == null ? null : lastError.text("message", ""),
        job.has("restorableUntil") ? Instant.parse(job.text("restorableUntil")) : null);
  }

  private static Instant at(JobInfo.State state, JsonObject job) {
    return Instant.parse(
        switch (state) {
          case DELAYED -> job.text("dueAt");
          case RESERVED -> Objects.requireNonNull(job.object("lease"), "lease").text("until");
          case DEAD -> job.text("diedAt");
          case FINISHED -> job.text("finishedAt");
          case CANCELLED -> job.text("cancelledAt");
        });
  }
}
