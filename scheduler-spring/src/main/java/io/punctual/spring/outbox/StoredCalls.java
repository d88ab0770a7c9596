package io.punctual.spring.outbox;

import io.punctual.DelayQueueJob;
import io.punctual.RetryPolicy;
import io.punctual.TaskSubmitService.Running;
import io.punctual.conflict.OnConflict;
import io.punctual.schedule.TimeRules;
import io.punctual.schedule.Windows;
import io.punctual.spring.CommitFailures.Call;
import io.punctual.spring.DeferredCall;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Calls as texts of the table: JSON, in which later versions may have more. */
final class StoredCalls {

  private static final JsonMapper JSON =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  /** A row's text; what a kind of call does not have is null. */
  private record Stored(
      @Nullable String taskType,
      @Nullable String taskId,
      @Nullable String tag,
      @Nullable Long dueAt,
      @Nullable String delay,
      @Nullable String params,
      @Nullable String timeToRun,
      @Nullable String retry,
      @Nullable Map<String, String> headers,
      @Nullable List<String> tags,
      @Nullable Long notAfter,
      @Nullable String expiresIn,
      @Nullable String within,
      @Nullable String window,
      @Nullable String windowZone,
      @Nullable String calendar,
      @Nullable String onConflict,
      @Nullable String handle,
      @Nullable String reason,
      @Nullable String running,
      @Nullable List<DelayQueueJob.Event> cancelOn,
      @Nullable List<DelayQueueJob.Event> runOn,
      DelayQueueJob.@Nullable Event event) {}

  private StoredCalls() {}

  static String write(DeferredCall call) {
    try {
      return JSON.writeValueAsString(stored(call));
    } catch (JacksonException e) {
      throw new IllegalStateException("the call cannot be written", e);
    }
  }

  private static Map<String, @Nullable Object> stored(DeferredCall call) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    if (call instanceof DeferredCall.Send send) {
      DelayQueueJob job = send.job();
      fields.put("taskType", job.taskType());
      fields.put("taskId", job.taskId());
      fields.put("dueAt", job.delayTime());
      fields.put("delay", text(job.delay()));
      fields.put("params", job.params());
      fields.put("timeToRun", text(job.timeToRun()));
      fields.put("retry", job.retry() == null ? null : job.retry().text());
      fields.put("headers", job.headers());
      fields.put("tags", job.tags());
      TimeRules rules = job.timeRules();
      fields.put("notAfter", rules.notAfter() == null ? null : rules.notAfter().toEpochMilli());
      fields.put("expiresIn", text(rules.expiresIn()));
      fields.put("within", text(rules.within()));
      fields.put("window", rules.window() == null ? null : rules.window().toString());
      fields.put("windowZone", rules.windowZone() == null ? null : rules.windowZone().getId());
      fields.put("calendar", rules.calendar());
      fields.put(
          "onConflict",
          job.onConflict().equals(OnConflict.REFUSE) ? null : job.onConflict().toString());
      fields.put("cancelOn", job.cancelOn().isEmpty() ? null : job.cancelOn());
      fields.put("runOn", job.runOn().isEmpty() ? null : job.runOn());
    } else if (call instanceof DeferredCall.Reschedule move) {
      fields.put("taskType", move.taskType());
      fields.put("taskId", move.taskId());
      fields.put("dueAt", move.dueAt() == null ? null : move.dueAt().toEpochMilli());
      fields.put("delay", text(move.delay()));
    } else if (call instanceof DeferredCall.Cancel cancel) {
      fields.put("taskType", cancel.taskType());
      fields.put("taskId", cancel.taskId());
      fields.put("running", cancel.running() == Running.LEAVE ? null : cancel.running().name());
    } else if (call instanceof DeferredCall.CancelByTag cancel) {
      fields.put("tag", cancel.tag());
    } else if (call instanceof DeferredCall.Event event) {
      fields.put("event", event.event());
    } else if (call instanceof DeferredCall.Finish finish) {
      fields.put("handle", finish.handle());
    } else if (call instanceof DeferredCall.Fail fail) {
      fields.put("handle", fail.handle());
      fields.put("reason", fail.reason());
      fields.put("delay", text(fail.delay()));
    } else if (call instanceof DeferredCall.Reject reject) {
      fields.put("handle", reject.handle());
      fields.put("reason", reject.reason());
    } else {
      throw new IllegalArgumentException("no such call: " + call);
    }
    fields.values().removeIf(Objects::isNull);
    return fields;
  }

  private static @Nullable String text(@Nullable Duration duration) {
    return duration == null ? null : duration.toString();
  }

  /**
   * The call of a row.
   *
   * @throws IllegalArgumentException if it cannot be read, as where a newer version has written it
   */
  static DeferredCall read(String kind, String content) {
    try {
      Stored stored = JSON.readValue(content, Stored.class);
      if (kind.equals(Call.SEND.toString())) {
        return new DeferredCall.Send(job(stored));
      } else if (kind.equals(Call.RESCHEDULE.toString())) {
        return new DeferredCall.Reschedule(
            given("taskType", stored.taskType()),
            given("taskId", stored.taskId()),
            stored.dueAt() == null ? null : Instant.ofEpochMilli(stored.dueAt()),
            duration(stored.delay()));
      } else if (kind.equals(Call.CANCEL.toString())) {
        return new DeferredCall.Cancel(
            given("taskType", stored.taskType()),
            given("taskId", stored.taskId()),
            stored.running() == null ? Running.LEAVE : Running.valueOf(stored.running()));
      } else if (kind.equals(Call.CANCEL_BY_TAG.toString())) {
        return new DeferredCall.CancelByTag(given("tag", stored.tag()));
      } else if (kind.equals(Call.EVENT.toString())) {
        return new DeferredCall.Event(given("event", stored.event()));
      } else if (kind.equals(Call.FINISH.toString())) {
        return new DeferredCall.Finish(given("handle", stored.handle()));
      } else if (kind.equals(Call.FAIL.toString())) {
        return new DeferredCall.Fail(
            given("handle", stored.handle()),
            given("reason", stored.reason()),
            duration(stored.delay()));
      } else if (kind.equals(Call.REJECT.toString())) {
        return new DeferredCall.Reject(
            given("handle", stored.handle()), given("reason", stored.reason()));
      }
      throw new IllegalArgumentException("no such kind of call: " + kind);
    } catch (JacksonException | java.time.DateTimeException e) {
      throw new IllegalArgumentException("the row cannot be read: " + e.getMessage(), e);
    }
  }

  private static DelayQueueJob job(Stored stored) {
    DelayQueueJob.Builder job =
        DelayQueueJob.of(given("taskType", stored.taskType()))
            .taskId(given("taskId", stored.taskId()))
            .timeToRun(duration(stored.timeToRun()))
            .retry(stored.retry() == null ? null : RetryPolicy.parse(stored.retry()))
            .params(Objects.requireNonNullElse(stored.params(), ""))
            .headers(Objects.requireNonNullElse(stored.headers(), Map.of()))
            .tags(Objects.requireNonNullElse(stored.tags(), List.of()))
            .timeRules(
                new TimeRules(
                    stored.notAfter() == null ? null : Instant.ofEpochMilli(stored.notAfter()),
                    duration(stored.expiresIn()),
                    duration(stored.within()),
                    stored.window() == null ? null : Windows.parse(stored.window()),
                    stored.windowZone() == null ? null : ZoneId.of(stored.windowZone()),
                    stored.calendar()))
            .onConflict(
                stored.onConflict() == null
                    ? OnConflict.REFUSE
                    : OnConflict.parse(stored.onConflict()))
            .cancelOn(Objects.requireNonNullElse(stored.cancelOn(), List.of()))
            .runOn(Objects.requireNonNullElse(stored.runOn(), List.of()));
    Duration delay = duration(stored.delay());
    if (delay != null) {
      job.delay(delay);
    } else if (stored.dueAt() != null) {
      job.delayTime(stored.dueAt());
    }
    return job.build();
  }

  private static @Nullable Duration duration(@Nullable String text) {
    return text == null ? null : Duration.parse(text);
  }

  private static <T> T given(String name, @Nullable T value) {
    if (value == null) {
      throw new IllegalArgumentException("the row has no " + name);
    }
    return value;
  }
}
