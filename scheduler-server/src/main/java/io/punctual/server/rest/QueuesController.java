package io.punctual.server.rest;

import io.punctual.core.QueueStats;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.query.Forecast;
import io.punctual.server.jobs.JobRef;
import io.punctual.server.jobs.QueueService;
import io.punctual.server.metrics.Growth;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Ownership;
import io.punctual.server.security.Role;
import io.punctual.server.web.JsonBody;
import io.punctual.server.web.JsonFields;
import io.punctual.server.web.WebProperties;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Queues: list, pause, limit and forecast. */
@RestController
@RequestMapping("/api/v1")
class QueuesController {

  private static final int MAX_PAGE = 500;
  private static final int MAX_INTERVALS = 200;
  private static final Duration MAX_WITHIN = Duration.ofDays(366);

  private final QueueService queues;
  private final WebProperties.Api bounds;

  QueuesController(QueueService queues, WebProperties properties) {
    this.queues = queues;
    this.bounds = properties.api();
  }

  /** Lists queues by name; the cursor is the last name of the page before. */
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
    QueueService.Page page =
        queues.list(cursor, max, circuitOpen == null ? null : Boolean.valueOf(circuitOpen));
    return Paging.page(page.queues().stream().map(QueuesController::output).toList(), page.next());
  }

  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/queues/{application}/{taskType}")
  Map<String, Object> find(@PathVariable String application, @PathVariable String taskType) {
    return output(queues.find(JobRef.queue(application, taskType)));
  }

  @Allowed(Role.OPERATOR)
  @PostMapping("/queues/{application}/{taskType}/pause")
  Map<String, Object> pause(@PathVariable String application, @PathVariable String taskType) {
    queues.setPaused(JobRef.queue(application, taskType), true);
    return find(application, taskType);
  }

  @Allowed(Role.OPERATOR)
  @PostMapping("/queues/{application}/{taskType}/resume")
  Map<String, Object> resume(@PathVariable String application, @PathVariable String taskType) {
    queues.setPaused(JobRef.queue(application, taskType), false);
    return find(application, taskType);
  }

  /** Replaces the limits of a queue; a part that is left out is not limited. */
  @Allowed(Role.OPERATOR)
  @PutMapping("/queues/{application}/{taskType}/limits")
  Map<String, Object> limit(
      @PathVariable String application, @PathVariable String taskType, HttpServletRequest request) {
    QueueName queue = JobRef.queue(application, taskType);
    JsonFields fields = JsonBody.read(request, bounds.maxBody().toBytes());
    int concurrency = fields.integer("concurrency", 0, 1, 1_000_000);
    String rate = fields.text("rate");
    fields.noMore();
    queues.limit(queue, concurrency == 0 ? null : Integer.valueOf(concurrency), rate);
    return output(queues.find(queue));
  }

  /** Counts the jobs that fall due in each interval. */
  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/forecast")
  Map<String, Object> forecast(
      @RequestParam(name = "application", required = false) @Nullable String given,
      @RequestParam(required = false) @Nullable String taskType,
      @RequestParam(required = false) @Nullable String within,
      @RequestParam(required = false) @Nullable String intervals) {
    String application = Ownership.application(given);
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
    QueueService.Load load = queues.forecast(application, taskType, width, count);
    Forecast forecast = load.forecast();
    Map<String, Object> out = new LinkedHashMap<>();
    out.put("from", forecast.now() == 0 ? null : Instant.ofEpochMilli(forecast.now()).toString());
    out.put("queues", load.queues());
    out.put("damaged", load.damaged().stream().map(QueueName::toString).toList());
    out.put("intervalMs", width.toMillis());
    out.put("ready", forecast.ready());
    out.put("counts", forecast.counts());
    return out;
  }

  private static Map<String, Object> output(QueueService.QueueView view) {
    QueueSample sample = view.sample();
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
    out.put("workers", view.workers());
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
