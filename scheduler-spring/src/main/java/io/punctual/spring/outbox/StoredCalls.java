package io.punctual.spring.outbox;

import io.punctual.DelayQueueJob;
import io.punctual.RetryPolicy;
import io.punctual.spring.CommitFailures.Call;
import io.punctual.spring.DeferredCall;
import java.time.Duration;
import java.time.Instant;
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
      @Nullable String handle,
      @Nullable String reason) {

    static Stored ofHandle(String handle, @Nullable String reason, @Nullable String delay) {
      return new Stored(
          null, null, null, null, delay, null, null, null, null, null, handle, reason);
    }
  }

  private StoredCalls() {}

  static String write(DeferredCall call) {
    return JSON.writeValueAsString(stored(call));
  }

  private static Stored stored(DeferredCall call) {
    if (call instanceof DeferredCall.Send send) {
      DelayQueueJob job = send.job();
      return new Stored(
          job.taskType(),
          job.taskId(),
          null,
          job.delayTime(),
          text(job.delay()),
          job.params(),
          text(job.timeToRun()),
          job.retry() == null ? null : job.retry().text(),
          job.headers(),
          job.tags(),
          null,
          null);
    } else if (call instanceof DeferredCall.Reschedule move) {
      return new Stored(
          move.taskType(),
          move.taskId(),
          null,
          move.dueAt() == null ? null : move.dueAt().toEpochMilli(),
          text(move.delay()),
          null,
          null,
          null,
          null,
          null,
          null,
          null);
    } else if (call instanceof DeferredCall.Cancel cancel) {
      return new Stored(
          cancel.taskType(),
          cancel.taskId(),
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null,
          null);
    } else if (call instanceof DeferredCall.CancelByTag cancel) {
      return new Stored(
          null, null, cancel.tag(), null, null, null, null, null, null, null, null, null);
    } else if (call instanceof DeferredCall.Finish finish) {
      return Stored.ofHandle(finish.handle(), null, null);
    } else if (call instanceof DeferredCall.Fail fail) {
      return Stored.ofHandle(fail.handle(), fail.reason(), text(fail.delay()));
    } else if (call instanceof DeferredCall.Reject reject) {
      return Stored.ofHandle(reject.handle(), reject.reason(), null);
    }
    throw new IllegalArgumentException("no such call: " + call);
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
            given("taskType", stored.taskType()), given("taskId", stored.taskId()));
      } else if (kind.equals(Call.CANCEL_BY_TAG.toString())) {
        return new DeferredCall.CancelByTag(given("tag", stored.tag()));
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
            .tags(Objects.requireNonNullElse(stored.tags(), List.of()));
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

  private static String given(String name, @Nullable String value) {
    if (value == null) {
      throw new IllegalArgumentException("the row has no " + name);
    }
    return value;
  }
}
