package io.punctual.server.api;

import io.punctual.ErrorCode;
import io.punctual.core.Engine;
import io.punctual.core.QueueStats;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.query.Forecast;
import io.punctual.server.config.PunctualProperties;
import io.punctual.server.config.WorkersSeen;
import io.punctual.server.metrics.Growth;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.metrics.QueueStatistics;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.AuditLog;
import io.punctual.server.security.Role;
import io.punctual.server.web.ApiException;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Queues: which there are, how full they are, what is to come; and hold them back. */
@RestController
@RequestMapping("/api/v1")
class QueuesController {

  private static final int MAX_PAGE = 500;
  private static final int MAX_INTERVALS = 200;
  private static final Duration MAX_WITHIN = Duration.ofDays(366);

  private final Engine engine;
  private final WorkersSeen workers;
  private final QueueStatistics statistics;
  private final AuditLog audit;
  private final PunctualProperties.Api bounds;

  QueuesController(
      Engine engine,
      WorkersSeen workers,
      QueueStatistics statistics,
      AuditLog audit,
      PunctualProperties properties) {
    this.bounds = properties.api();
    this.audit = audit;
    this.engine = engine;
    this.workers = workers;
    this.statistics = statistics;
  }

  /** Names in order; the cursor is the last name of the page before. */
  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/queues")
  Map<String, Object> list(
      @RequestParam(required = false) @Nullable String cursor,
      @RequestParam(required = false) @Nullable String limit,
      @RequestParam(required = false) @Nullable String circuitOpen) {
    int max = Paging.limit(limit, MAX_PAGE);
    if (circuitOpen != null && !circuitOpen.equals("true") && !circuitOpen.equals("false")) {
      throw ApiException.invalid("circuitOpen", "must be true or false");
    }
    Boolean open = circuitOpen == null ? null : Boolean.valueOf(circuitOpen);
    List<Map.Entry<QueueName, Integer>> found =
        engine.queues().entrySet().stream()
            .filter(entry -> AccessRules.sees(entry.getKey()))
            // By the text that the cursor is, in which a slash stands behind a hyphen.
            .sorted(Comparator.comparing(entry -> entry.getKey().toString()))
            .filter(entry -> cursor == null || entry.getKey().toString().compareTo(cursor) > 0)
            .filter(entry -> open == null || open == statistics.isCircuitOpen(entry.getKey()))
            .limit(max + 1L)
            .toList();
    return Paging.page(
        found.stream()
            .limit(max)
            .map(entry -> statistics.look(entry.getKey()).map(this::output))
            .flatMap(Optional::stream)
            .toList(),
        found.size() > max ? found.get(max - 1).getKey().toString() : null);
  }

  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/queues/{application}/{taskType}")
  Map<String, Object> find(@PathVariable String application, @PathVariable String taskType) {
    return stats(JobAnswers.queue(application, taskType));
  }

  @Allowed(Role.OPERATOR)
  @PostMapping("/queues/{application}/{taskType}/pause")
  Map<String, Object> pause(@PathVariable String application, @PathVariable String taskType) {
    return hold(JobAnswers.queue(application, taskType), true);
  }

  @Allowed(Role.OPERATOR)
  @PostMapping("/queues/{application}/{taskType}/resume")
  Map<String, Object> resume(@PathVariable String application, @PathVariable String taskType) {
    return hold(JobAnswers.queue(application, taskType), false);
  }

  /** Replaces the bounds of a queue; what is left out is not bounded. */
  @Allowed(Role.OPERATOR)
  @PutMapping("/queues/{application}/{taskType}/limits")
  Map<String, Object> limit(
      @PathVariable String application, @PathVariable String taskType, HttpServletRequest request) {
    return limit(
        JobAnswers.queue(application, taskType),
        JsonBody.read(request, bounds.maxBody().toBytes()));
  }

  Map<String, Object> limit(QueueName queue, JsonFields fields) {
    int concurrency = fields.integer("concurrency", 0, 1, 1_000_000);
    String rate = fields.text("rate");
    fields.noMore();
    if (engine.stats(queue).isEmpty()) {
      throw unknown(queue);
    }
    String before = throttle(queue);
    Integer atOnce = concurrency == 0 ? null : Integer.valueOf(concurrency);
    try {
      engine.operations().limit(queue, new Throttle(atOnce, rate(fields, rate)));
    } catch (IllegalArgumentException e) {
      throw fields.error("concurrency", without("concurrency ", e));
    }
    audit.did("limit", queue::toString, before, throttle(queue));
    return stats(queue);
  }

  private @Nullable String throttle(QueueName queue) {
    return audit.isKept()
        ? engine.stats(queue).map(stats -> stats.throttle().toString()).orElse(null)
        : null;
  }

  private static Throttle.@Nullable Rate rate(JsonFields fields, @Nullable String text) {
    try {
      return text == null ? null : Throttle.Rate.parse(text);
    } catch (IllegalArgumentException e) {
      throw fields.error("rate", without("rate ", e));
    }
  }

  private static String without(String field, IllegalArgumentException e) {
    String message = String.valueOf(e.getMessage());
    return message.startsWith(field) ? message.substring(field.length()) : message;
  }

  private Map<String, Object> hold(QueueName queue, boolean paused) {
    QueueStats before = engine.stats(queue).orElseThrow(() -> unknown(queue));
    var unused = engine.operations().pause(queue, paused);
    boolean wasPaused = before.pausedSince() != null;
    if (wasPaused != paused) {
      audit.did(
          paused ? "pause" : "resume",
          queue::toString,
          wasPaused ? "paused" : "running",
          paused ? "paused" : "running");
    }
    return stats(queue);
  }

  /** When how many jobs fall due. */
  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/forecast")
  Map<String, Object> forecast(
      @RequestParam(name = "application", required = false) @Nullable String given,
      @RequestParam(required = false) @Nullable String taskType,
      @RequestParam(required = false) @Nullable String within,
      @RequestParam(required = false) @Nullable String intervals) {
    String application = AccessRules.application(given);
    if (taskType != null && application == null) {
      throw ApiException.invalid("application", "is missing: the task type is one of it");
    }
    Duration span = JsonFields.duration("within", within, Duration.ofSeconds(1), MAX_WITHIN);
    Duration length = span == null ? Duration.ofHours(1) : span;
    int count = intervals == null ? 60 : Paging.limit(intervals, "intervals", MAX_INTERVALS);
    Duration width = length.dividedBy(count);
    if (width.toMillis() < 1) {
      throw ApiException.invalid("intervals", "must not be shorter than 1 ms each");
    }
    List<QueueName> queues = queues(application, taskType);
    Forecast forecast = engine.operations().forecast(queues, width, count);
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("from", forecast.now() == 0 ? null : Instant.ofEpochMilli(forecast.now()).toString());
    out.put("queues", queues.size());
    out.put(
        "damaged",
        engine.scanners().damaged().keySet().stream()
            .filter(queues::contains)
            .map(QueueName::toString)
            .toList());
    out.put("intervalMs", width.toMillis());
    out.put("ready", forecast.ready());
    out.put("counts", forecast.counts());
    return out;
  }

  private List<QueueName> queues(@Nullable String application, @Nullable String taskType) {
    if (application == null) {
      return engine.queues().keySet().stream().sorted().toList();
    }
    QueueName queue = JobAnswers.queue(application, Objects.requireNonNullElse(taskType, "any"));
    return engine.queues().keySet().stream()
        .filter(
            name ->
                taskType == null
                    ? name.application().equals(queue.application())
                    : name.equals(queue))
        .sorted()
        .toList();
  }

  private Map<String, Object> stats(QueueName queue) {
    return statistics.look(queue).map(this::output).orElseThrow(() -> unknown(queue));
  }

  private static ApiException unknown(QueueName queue) {
    return ApiException.of(
        ErrorCode.NOT_FOUND, "no queue " + queue + " is known: no job was ever submitted to it");
  }

  private Map<String, Object> output(QueueSample sample) {
    QueueStats stats = sample.stats();
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("application", stats.queue().application());
    out.put("taskType", stats.queue().taskType());
    out.put("buckets", stats.buckets());
    // Of a part of the buckets they would look like all.
    boolean whole = !stats.isDamaged();
    out.put("damage", stats.damage());
    out.put("delayed", whole ? stats.delayed() : null);
    out.put("ready", whole ? stats.ready() : null);
    out.put("reserved", whole ? stats.reserved() : null);
    out.put("dead", whole ? stats.dead() : null);
    out.put("oldestReadyAgeMs", stats.oldestReady() == null || !whole ? null : sample.readyAge());
    out.put("nextDueAt", whole ? moment(stats.nextDue()) : null);
    out.put("parked", sample.parked());
    out.put("pausedSince", moment(stats.pausedSince()));
    Map<String, Object> limits = new LinkedHashMap<>();
    Throttle.Rate rate = stats.throttle().rate();
    limits.put("concurrency", stats.throttle().concurrency());
    limits.put("rate", rate == null ? null : rate.toString());
    out.put("limits", limits);
    out.put("workers", workers.of(stats.queue()));
    out.put("circuitOpen", sample.circuitOpen());
    out.put("counters", whole ? stats.counters() : null);
    out.put("rates", rates(sample.minute()));
    return out;
  }

  private static @Nullable Map<String, Object> rates(Growth minute) {
    if (minute.ms() == 0) {
      return null;
    }
    Map<String, Object> rates = new TreeMap<>();
    for (String counter : minute.counters().keySet()) {
      rates.put(counter, Math.round(minute.perSecond(counter) * 1000) / 1000.0);
    }
    rates.put("overMs", minute.ms());
    return rates;
  }

  private static @Nullable String moment(@Nullable Long millis) {
    return millis == null ? null : Instant.ofEpochMilli(millis).toString();
  }
}
