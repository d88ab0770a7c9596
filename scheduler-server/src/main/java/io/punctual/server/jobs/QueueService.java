package io.punctual.server.jobs;

import io.punctual.ErrorCode;
import io.punctual.core.Engine;
import io.punctual.core.Operations.ApplicationPaused;
import io.punctual.core.QueueStats;
import io.punctual.core.job.Pause;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.query.Forecast;
import io.punctual.schedule.TimeRules;
import io.punctual.server.audit.AuditLog;
import io.punctual.server.history.History;
import io.punctual.server.history.Mark;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.metrics.QueueStatistics;
import io.punctual.server.problem.ApiException;
import io.punctual.server.registry.ServedTypes;
import io.punctual.server.security.Caller;
import io.punctual.server.security.Ownership;
import io.punctual.server.text.Printable;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/** Shows, pauses and limits queues, sets their hours, and records it in the audit. */
@Component
public class QueueService {

  private static final Logger log = LoggerFactory.getLogger(QueueService.class);

  private static final int MAX_CONCURRENCY = 1_000_000;

  private final Engine engine;
  private final ServedTypes workers;
  private final QueueStatistics statistics;
  private final CalendarService calendars;
  private final AuditLog audit;
  private final History history;

  QueueService(
      Engine engine,
      ServedTypes workers,
      QueueStatistics statistics,
      CalendarService calendars,
      AuditLog audit,
      History history) {
    this.engine = engine;
    this.workers = workers;
    this.statistics = statistics;
    this.calendars = calendars;
    this.audit = audit;
    this.history = history;
  }

  /**
   * A worker that fetches jobs of a queue at this scheduler.
   *
   * @param worker as it names itself
   * @param lastAt when it asked or was given a job last, by this scheduler's clock
   * @param jobs how many it was given since it began
   */
  public record Puller(String worker, Instant lastAt, long jobs) {}

  /**
   * A queue as this scheduler sees it.
   *
   * @param workers the ids of the instances that get its jobs
   * @param pullers the workers that fetch its jobs here
   */
  public record QueueView(QueueSample sample, List<String> workers, List<Puller> pullers) {}

  /**
   * A page of queues.
   *
   * @param next the cursor of the next page; null at the end
   */
  public record Page(List<QueueView> queues, @Nullable String next) {}

  /**
   * Lists the queues that the caller may see, by name.
   *
   * @param cursor the last name of the page before; null to begin
   * @param circuitOpen lists only queues of which this is so; null for all
   */
  public Page list(@Nullable String cursor, int max, @Nullable Boolean circuitOpen) {
    List<QueueName> found =
        engine.queues().keySet().stream()
            .filter(Ownership::sees)
            // By the text that the cursor is, in which a slash stands behind a hyphen.
            .sorted(Comparator.comparing(QueueName::toString))
            .filter(queue -> cursor == null || queue.toString().compareTo(cursor) > 0)
            .filter(queue -> circuitOpen == null || circuitOpen == statistics.isCircuitOpen(queue))
            .limit(max + 1L)
            .toList();
    return new Page(
        found.stream()
            .limit(max)
            .flatMap(queue -> statistics.look(queue).map(this::view).stream())
            .toList(),
        found.size() > max ? found.get(max - 1).toString() : null);
  }

  /**
   * Returns a queue.
   *
   * @throws ApiException 404
   */
  public QueueView find(QueueName queue) {
    return view(statistics.look(queue).orElseThrow(() -> unknown(queue)));
  }

  private QueueView view(QueueSample sample) {
    return new QueueView(
        sample,
        workers.instances(sample.queue()),
        workers.pullers(sample.queue()).stream()
            .map(one -> new Puller(one.worker(), one.lastAt(), one.jobs()))
            .toList());
  }

  private QueueStats stats(QueueName queue) {
    return engine.stats(queue).orElseThrow(() -> unknown(queue));
  }

  private static ApiException unknown(QueueName queue) {
    return ApiException.of(
        ErrorCode.NOT_FOUND, "no queue " + queue + " is known: no job was ever submitted to it");
  }

  /**
   * Pauses a queue for the caller, or changes the terms of its pause.
   *
   * @param reason at most 60 characters; null for none
   * @param length after which it resumes by itself, at most 366 days; null for when it is resumed
   * @throws ApiException 400, 404
   */
  public void pause(QueueName queue, @Nullable String reason, @Nullable Duration length) {
    change(queue, terms(reason, length));
  }

  /**
   * Resumes a queue. It waits on if its application is paused.
   *
   * @throws ApiException 404
   */
  public void resume(QueueName queue) {
    change(queue, null);
  }

  private void change(QueueName queue, Pause.@Nullable Terms terms) {
    Pause before = own(queue);
    var unused = engine.operations().pause(queue, terms);
    Pause after = own(queue);
    if (!Objects.equals(before, after)) {
      note(terms != null, queue.toString(), state(before), state(after));
    }
  }

  private @Nullable Pause own(QueueName queue) {
    return stats(queue).pauses().stream()
        .filter(pause -> pause.scope() == Pause.Scope.QUEUE)
        .findFirst()
        .orElse(null);
  }

  /**
   * Pauses all queues of an application for the caller, also those that begin later, or changes the
   * terms of that.
   *
   * @param reason at most 60 characters; null for none
   * @param length after which they resume by themselves, at most 366 days; null for when they are
   *     resumed
   * @throws ApiException 400
   */
  public ApplicationPaused pauseApplication(
      String application, @Nullable String reason, @Nullable Duration length) {
    ApplicationPaused paused =
        engine.operations().pauseApplication(application, terms(reason, length));
    note(true, application, null, state(paused.pause()));
    return paused;
  }

  /** Resumes all queues of an application but those that are paused by themselves. */
  public ApplicationPaused resumeApplication(String application) {
    ApplicationPaused paused = engine.operations().pauseApplication(application, null);
    note(false, application, null, state(null));
    return paused;
  }

  // Of an application only the log knows.
  private void note(boolean paused, String target, @Nullable String before, String after) {
    audit.did(paused ? "pause" : "resume", () -> target, before, after);
    history.mark(paused ? Mark.Kind.PAUSE : Mark.Kind.RESUME, target);
    if (!audit.isKept()) {
      log.info("{} {} {}: {}", owner(), paused ? "paused" : "resumed", Printable.of(target), after);
    }
  }

  private static String owner() {
    Caller caller = Caller.current();
    String name = caller.application() == null ? caller.name() : caller.application();
    String shown = Printable.of(name);
    return shown.substring(
        0,
        shown.offsetByCodePoints(
            0, Math.min(Pause.MAX_NAME, shown.codePointCount(0, shown.length()))));
  }

  private static Pause.Terms terms(@Nullable String reason, @Nullable Duration length) {
    String why = reason == null ? "" : reason.strip();
    if (!Pause.isText(why, Pause.MAX_REASON)) {
      throw ApiException.invalid(
          "reason", "must be at most " + Pause.MAX_REASON + " printable characters");
    }
    return new Pause.Terms(owner(), why, length);
  }

  private static String state(@Nullable Pause pause) {
    return pause == null ? "running" : "paused " + QueueSample.text(pause);
  }

  /**
   * Replaces the limits of a queue.
   *
   * @param concurrency jobs at once; null for no limit
   * @param rate for instance {@code 100/s}; null for no limit
   * @throws ApiException 400 for limits that are none, 404
   */
  public void limit(QueueName queue, @Nullable Integer concurrency, @Nullable String rate) {
    if (concurrency != null && (concurrency < 1 || concurrency > MAX_CONCURRENCY)) {
      throw ApiException.invalid(
          "concurrency", "must be a whole number between 1 and " + MAX_CONCURRENCY);
    }
    String before = stats(queue).throttle().toString();
    Throttle.Rate parsed = rate == null ? null : rate(rate);
    try {
      Throttle throttle = new Throttle(concurrency, parsed);
      engine.operations().limit(queue, throttle);
      audit.did("limit", queue::toString, before, throttle.toString());
    } catch (IllegalArgumentException e) {
      throw invalid("concurrency", e);
    }
  }

  /**
   * Sets whether jobs that could not start in time become dead letters or are dropped.
   *
   * @param drop whether they are dropped; else they become dead letters
   * @throws ApiException 404
   */
  public void dropExpired(QueueName queue, boolean drop) {
    boolean before = stats(queue).dropsExpired();
    engine.operations().dropExpired(queue, drop);
    if (before != drop) {
      audit.did("expiry", queue::toString, expired(before), expired(drop));
    }
  }

  /**
   * Replaces the hours in which a queue's jobs go out.
   *
   * @param hours window, zone and calendar of it; {@link TimeRules#NONE} for any time
   * @throws ApiException 400 for a calendar that is not there, 404
   */
  public void hours(QueueName queue, TimeRules hours) {
    TimeRules before = stats(queue).hours();
    calendars.require(hours.calendar());
    engine.operations().hours(queue, hours);
    if (!before.equals(hours)) {
      audit.did("hours", queue::toString, text(before), text(hours));
    }
  }

  private static String text(TimeRules hours) {
    return Stream.of(hours.window(), hours.windowZone(), hours.calendar())
        .filter(Objects::nonNull)
        .map(Object::toString)
        .collect(Collectors.joining(" "));
  }

  private static String expired(boolean drop) {
    return drop ? "drop" : "dead";
  }

  private static Throttle.Rate rate(String text) {
    try {
      return Throttle.Rate.parse(text);
    } catch (IllegalArgumentException e) {
      throw invalid("rate", e);
    }
  }

  private static ApiException invalid(String field, IllegalArgumentException e) {
    String message = String.valueOf(e.getMessage());
    return ApiException.invalid(
        field, message.startsWith(field + " ") ? message.substring(field.length() + 1) : message);
  }

  /**
   * The jobs that fall due.
   *
   * @param queues how many queues were counted
   * @param damaged queues that could not be counted
   */
  public record Load(Forecast forecast, int queues, List<QueueName> damaged, Duration width) {}

  /**
   * Counts the jobs that fall due.
   *
   * @param application null for all
   * @param taskType null for all of the application
   * @param width of an interval
   */
  public Load forecast(
      @Nullable String application, @Nullable String taskType, Duration width, int intervals) {
    QueueName wanted =
        application == null
            ? null
            : JobRef.queue(application, Objects.requireNonNullElse(taskType, "any"));
    List<QueueName> queues =
        engine.queues().keySet().stream()
            .filter(
                name ->
                    wanted == null
                        || (taskType == null
                            ? name.application().equals(wanted.application())
                            : name.equals(wanted)))
            .sorted()
            .toList();
    return new Load(
        engine.operations().forecast(queues, width, intervals),
        queues.size(),
        engine.scanners().damaged().keySet().stream().filter(queues::contains).toList(),
        width);
  }

  /**
   * Counts the jobs of these queues that fall due.
   *
   * @param width of an interval
   */
  public Forecast forecast(List<QueueName> queues, Duration width, int intervals) {
    return engine.operations().forecast(queues, width, intervals);
  }
}
