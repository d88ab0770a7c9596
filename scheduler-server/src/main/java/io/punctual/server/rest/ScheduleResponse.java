package io.punctual.server.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.punctual.core.Schedules;
import io.punctual.core.job.JobContent;
import io.punctual.core.schedule.Occurrence;
import io.punctual.core.schedule.Recurrence;
import io.punctual.core.schedule.ScheduleDefinition;
import io.punctual.core.schedule.ScheduleName;
import io.punctual.core.schedule.ScheduleState;
import io.punctual.server.input.ScheduleRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A schedule: what was put, with its defaults, and how far it is. */
@JsonInclude(JsonInclude.Include.NON_NULL)
record ScheduleResponse(
    String application,
    String taskType,
    String id,
    String origin,
    @Nullable String outcome,
    @Nullable String cron,
    @Nullable Long every,
    @Nullable Instant anchor,
    String zone,
    @Nullable String gap,
    @Nullable String fold,
    @Nullable Instant from,
    @Nullable Instant until,
    List<String> exclude,
    String missed,
    @Nullable Long missedWithin,
    String whileRunning,
    long jitter,
    String params,
    Map<String, String> headers,
    List<String> tags,
    @Nullable Long timeToRun,
    @Nullable String retry,
    @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable Instant nextAt,
    @Nullable Instant lastAt,
    @Nullable Instant waitingAt,
    @Nullable Instant pausedSince,
    Counts counts,
    @Nullable List<Next> preview) {

  /** What became of the occurrences. */
  record Counts(long fired, long skipped, long missed) {}

  /** An instant at which a schedule fires, and what the rules of its zone did to it. */
  record Next(Instant at, @JsonInclude(JsonInclude.Include.ALWAYS) @Nullable String note) {

    static List<Next> of(List<Occurrence> occurrences) {
      return occurrences.stream().map(next -> new Next(next.at(), next.note())).toList();
    }
  }

  /**
   * Makes the answer.
   *
   * @param outcome of a put; null for none
   * @param preview null for none
   */
  static ScheduleResponse of(
      Schedules.View view, @Nullable String outcome, @Nullable List<Next> preview) {
    ScheduleName name = view.name();
    ScheduleDefinition definition = view.definition();
    Recurrence recurrence = definition.recurrence();
    JobContent job = definition.job();
    ScheduleState state = view.state();
    boolean cron = recurrence.cron() != null;
    return new ScheduleResponse(
        name.queue().application(),
        name.queue().taskType(),
        name.id(),
        ScheduleRequest.word(view.origin()),
        outcome,
        cron ? String.valueOf(recurrence.cron()) : null,
        millis(recurrence.every()),
        cron ? null : recurrence.anchor(),
        ScheduleRequest.zoneName(recurrence.zone()),
        cron ? ScheduleRequest.word(recurrence.gap()) : null,
        cron ? ScheduleRequest.word(recurrence.fold()) : null,
        recurrence.from(),
        recurrence.until(),
        ScheduleRequest.exclude(definition),
        ScheduleRequest.word(definition.missed()),
        millis(definition.missedWithin()),
        ScheduleRequest.word(definition.whileRunning()),
        definition.jitter().toMillis(),
        job.params(),
        job.headers(),
        job.tags(),
        millis(job.timeToRun()),
        job.retry() == null ? null : job.retry().text(),
        view.next(),
        state.last(),
        state.waiting(),
        state.pausedSince(),
        new Counts(state.fired(), state.skipped(), state.missed()),
        preview);
  }

  private static @Nullable Long millis(@Nullable Duration duration) {
    return duration == null ? null : Long.valueOf(duration.toMillis());
  }
}
