package io.punctual.server.rest;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.punctual.core.Operations.ApplicationPaused;
import io.punctual.core.QueueStats;
import io.punctual.core.job.Pause;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.query.Forecast;
import io.punctual.schedule.TimeRules;
import io.punctual.server.health.QueueHealth;
import io.punctual.server.input.Body;
import io.punctual.server.input.JobFields;
import io.punctual.server.input.ScheduleRequest;
import io.punctual.server.jobs.QueueService;
import io.punctual.server.metrics.Growth;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Ownership;
import io.punctual.server.security.Role;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
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

/** Queues: list, pause, limit, set hours and forecast. */
@RestController
@RequestMapping("/api/v1")
class QueuesController {

  private static final int MAX_PAGE = 500;
  private static final int MAX_INTERVALS = 200;
  private static final Duration MAX_WITHIN = Duration.ofDays(366);

  private final QueueService queues;

  QueuesController(QueueService queues) {
    this.queues = queues;
  }

  /** Lists queues by name; the cursor is the last name of the page before. */
  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/queues")
  Page<Queue> list(
      @RequestParam(required = false) @Nullable String cursor,
      @RequestParam(required = false) @Nullable String limit,
      @RequestParam(required = false) @Nullable String circuitOpen) {
    int max = Page.limit(limit, MAX_PAGE);
    if (circuitOpen != null && !circuitOpen.equals("true") && !circuitOpen.equals("false")) {
      throw ApiException.invalid("circuitOpen", "must be true or false");
    }
    QueueService.Page page =
        queues.list(cursor, max, circuitOpen == null ? null : Boolean.valueOf(circuitOpen));
    return new Page<>(page.queues().stream().map(Queue::of).toList(), page.next());
  }

  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/queues/{application}/{taskType}")
  Queue find(QueueName queue) {
    return Queue.of(queues.find(queue));
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/queues/{application}/{taskType}/pause")
  Queue pause(QueueName queue, @Body(optional = true) PauseRequest request) {
    queues.pause(queue, request.reason(), JobFields.pause(request.length()));
    return find(queue);
  }

  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/queues/{application}/{taskType}/resume")
  Queue resume(QueueName queue) {
    queues.resume(queue);
    return find(queue);
  }

  /** Pauses all queues of an application, also those that begin later. */
  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/applications/{application}/pause")
  ApplicationPause pauseApplication(
      @PathVariable String application, @Body(optional = true) PauseRequest request) {
    String own = JobFields.application(application);
    return ApplicationPause.of(
        own, queues.pauseApplication(own, request.reason(), JobFields.pause(request.length())));
  }

  /** Resumes all queues of an application but those that are paused by themselves. */
  @Allowed(value = Role.OPERATOR, applications = true)
  @PostMapping("/applications/{application}/resume")
  ApplicationPause resumeApplication(@PathVariable String application) {
    String own = JobFields.application(application);
    return ApplicationPause.of(own, queues.resumeApplication(own));
  }

  /** Replaces the limits of a queue; a part that is left out is not limited. */
  @Allowed(Role.OPERATOR)
  @PutMapping("/queues/{application}/{taskType}/limits")
  Queue limit(QueueName queue, @Body Limits limits) {
    queues.limit(queue, limits.concurrency(), limits.rate());
    return find(queue);
  }

  /**
   * Sets whether the queue's jobs that could not start in time become dead letters or are dropped.
   */
  @Allowed(Role.OPERATOR)
  @PutMapping("/queues/{application}/{taskType}/expiry")
  Queue expiry(QueueName queue, @Body Expiry expiry) {
    String expired = JobFields.required("expired", expiry.expired());
    if (!expired.equals("dead") && !expired.equals("drop")) {
      throw ApiException.invalid("expired", "must be dead or drop");
    }
    queues.dropExpired(queue, expired.equals("drop"));
    return find(queue);
  }

  /** Replaces the hours in which the queue's jobs go out; without any, they go out at all times. */
  @Allowed(Role.OPERATOR)
  @PutMapping("/queues/{application}/{taskType}/hours")
  Queue hours(QueueName queue, @Body Hours hours) {
    queues.hours(queue, JobFields.hours(hours.window(), hours.windowZone(), hours.calendar()));
    return find(queue);
  }

  /** Counts the jobs that fall due in each interval. */
  @Allowed(value = Role.VIEWER, applications = true)
  @GetMapping("/forecast")
  ForecastResponse forecast(
      @RequestParam(name = "application", required = false) @Nullable String given,
      @RequestParam(required = false) @Nullable String taskType,
      @RequestParam(required = false) @Nullable String within,
      @RequestParam(required = false) @Nullable String intervals) {
    String application = Ownership.application(given);
    if (taskType != null && application == null) {
      throw ApiException.invalid("application", "is missing: the task type is one of it");
    }
    Duration span = JobFields.duration("within", within, Duration.ofSeconds(1), MAX_WITHIN);
    Duration length = span == null ? Duration.ofHours(1) : span;
    int count = intervals == null ? 60 : Page.limit(intervals, "intervals", MAX_INTERVALS);
    Duration width = length.dividedBy(count);
    if (width.toMillis() < 1) {
      throw ApiException.invalid("intervals", "must not be shorter than 1 ms each");
    }
    QueueService.Load load = queues.forecast(application, taskType, width, count);
    Forecast forecast = load.forecast();
    return new ForecastResponse(
        forecast.now() == 0 ? null : Instant.ofEpochMilli(forecast.now()),
        load.queues(),
        load.damaged().stream().map(QueueName::toString).toList(),
        width.toMillis(),
        forecast.ready(),
        forecast.counts());
  }

  /** Why a queue is paused, and after which time it resumes by itself; null for not given. */
  record PauseRequest(@Nullable String reason, @JsonProperty("for") @Nullable String length) {}

  /**
   * A pause that goes on.
   *
   * @param of what was paused: {@code queue} or {@code application}
   * @param until when it ends by itself; null for when it is resumed
   */
  record PauseView(
      String of,
      Instant since,
      @Nullable Instant until,
      @Nullable String by,
      @Nullable String reason) {

    static PauseView of(Pause pause) {
      return new PauseView(
          pause.scope().name().toLowerCase(Locale.ROOT),
          Instant.ofEpochMilli(pause.since()),
          Queue.instant(pause.until()),
          pause.by().isEmpty() ? null : pause.by(),
          pause.reason().isEmpty() ? null : pause.reason());
    }
  }

  /** What became of an application's pause; {@code pause} is null if it is resumed. */
  record ApplicationPause(
      String application, @Nullable PauseView pause, int queues, List<String> damaged) {

    static ApplicationPause of(String application, ApplicationPaused paused) {
      return new ApplicationPause(
          application,
          paused.pause() == null ? null : PauseView.of(paused.pause()),
          paused.queues(),
          paused.damaged().stream().map(QueueName::toString).toList());
    }
  }

  /** The limits of a queue; null for none. */
  record Limits(@Nullable Integer concurrency, @Nullable String rate) {}

  /** What becomes of jobs that could not start in time: {@code dead} or {@code drop}. */
  record Expiry(@Nullable String expired) {}

  /** When jobs of a queue go out; null for what is not given. */
  record Hours(@Nullable String window, @Nullable String windowZone, @Nullable String calendar) {

    static Hours of(TimeRules hours) {
      return new Hours(
          hours.window() == null ? null : hours.window().toString(),
          hours.windowZone() == null ? null : ScheduleRequest.zoneName(hours.windowZone()),
          hours.calendar());
    }
  }

  record ForecastResponse(
      @Nullable Instant from,
      int queues,
      List<String> damaged,
      long intervalMs,
      long ready,
      List<Long> counts) {}

  /** A queue; figures are null where they are not known for all of it. */
  record Queue(
      String application,
      String taskType,
      String state,
      int buckets,
      @Nullable String damage,
      @Nullable Long delayed,
      @Nullable Long notDue,
      @Nullable Long ready,
      @Nullable Long reserved,
      @Nullable Long dead,
      @Nullable Long oldestReadyAgeMs,
      @Nullable Instant nextDueAt,
      boolean parked,
      @Nullable Instant pausedSince,
      List<PauseView> pauses,
      Limits limits,
      String expired,
      Hours hours,
      @Nullable Instant closedUntil,
      List<String> workers,
      boolean pulled,
      List<QueueService.Puller> pullers,
      boolean circuitOpen,
      QueueSample.Attempts attempts,
      @Nullable Map<String, Long> counters,
      @Nullable Map<String, Object> rates) {

    static Queue of(QueueService.QueueView view) {
      QueueSample sample = view.sample();
      QueueStats stats = sample.stats();
      Throttle.Rate rate = stats.throttle().rate();
      // Of a part of the buckets they would look like all.
      boolean whole = !stats.isDamaged();
      return new Queue(
          stats.queue().application(),
          stats.queue().taskType(),
          QueueHealth.state(sample),
          stats.buckets(),
          stats.damage(),
          whole ? stats.delayed() : null,
          whole ? stats.delayed() - stats.ready() : null,
          whole ? stats.ready() : null,
          whole ? stats.reserved() : null,
          whole ? stats.dead() : null,
          stats.oldestReady() == null || !whole ? null : sample.readyAge(),
          whole ? instant(stats.nextDue()) : null,
          sample.parked(),
          instant(stats.pausedSince()),
          stats.pauses().stream().map(PauseView::of).toList(),
          new Limits(stats.throttle().concurrency(), rate == null ? null : rate.toString()),
          stats.dropsExpired() ? "drop" : "dead",
          Hours.of(stats.hours()),
          instant(stats.closedUntil()),
          view.workers(),
          sample.pulled(),
          view.pullers(),
          sample.circuitOpen(),
          sample.attempts(),
          whole ? stats.counters() : null,
          rates(sample.minute()));
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

    static @Nullable Instant instant(@Nullable Long millis) {
      return millis == null ? null : Instant.ofEpochMilli(millis);
    }
  }
}
