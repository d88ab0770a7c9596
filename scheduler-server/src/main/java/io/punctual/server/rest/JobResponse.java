package io.punctual.server.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.punctual.core.job.Ending;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobState;
import io.punctual.core.store.query.JobView;
import io.punctual.server.input.ScheduleRequest;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A job; in lists without params, headers and retry policy. What it does not have is left out. */
@JsonInclude(JsonInclude.Include.NON_NULL)
record JobResponse(
    String application,
    String taskType,
    String taskId,
    String state,
    @Nullable Long version,
    @Nullable Instant dueAt,
    @Nullable Long delayTime,
    @Nullable Lease lease,
    @Nullable Successor successor,
    @Nullable Instant diedAt,
    @Nullable String reason,
    @Nullable Instant finishedAt,
    @Nullable Finisher finishedBy,
    @Nullable Instant cancelledAt,
    @Nullable String cancelledBy,
    @Nullable Instant restorableUntil,
    @Nullable Attempts attempts,
    @Nullable Instant acceptedAt,
    @Nullable String submittedBy,
    @Nullable String params,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, String> headers,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> tags,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<JobRequest.EventName> cancelOn,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<JobRequest.EventName> runOn,
    @Nullable Long timeToRun,
    @Nullable String retry,
    @Nullable Instant notAfter,
    @Nullable Long within,
    @Nullable String window,
    @Nullable String windowZone,
    @Nullable String calendar,
    @Nullable Failure lastError,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Failure> failures) {

  /**
   * The attempt that has the job.
   *
   * @param cancelling true where it is to stop; absent otherwise
   */
  record Lease(
      int attempt,
      @Nullable String owner,
      Instant until,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Boolean cancelling) {}

  /** What waits for the end of the job, and when it would be due if that were now. */
  record Successor(Instant dueAt) {}

  /** The attempt that finished the job; {@code instance} is absent if it is not known. */
  record Finisher(
      int attempt,
      Instant startedAt,
      long durationMs,
      long lateMs,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String instance) {}

  record Attempts(int failed, int unknown, int undeliverable, int counted, int max) {}

  /**
   * How an attempt failed; {@code attempt} is absent where none was under way, {@code release}
   * where the instance did not say it.
   */
  record Failure(
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Integer attempt,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Instant startedAt,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable Long durationMs,
      Instant at,
      String kind,
      String instance,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) String release,
      String message) {

    static Failure of(JobView.Failure failure) {
      boolean attempted = failure.attempt() > 0;
      return new Failure(
          attempted ? failure.attempt() : null,
          attempted ? Instant.ofEpochMilli(failure.startedAt()) : null,
          attempted ? failure.at() - failure.startedAt() : null,
          Instant.ofEpochMilli(failure.at()),
          failure.kind(),
          failure.instance(),
          failure.release(),
          failure.message());
    }
  }

  static JobResponse of(JobView job) {
    JobState state = job.state();
    Instant at = Instant.ofEpochMilli(job.at());
    JobContent content = job.content();
    List<Failure> failures = job.failures().stream().map(Failure::of).toList();
    return new JobResponse(
        job.queue().application(),
        job.queue().taskType(),
        job.taskId(),
        state.name().toLowerCase(Locale.ROOT),
        positive(job.version()),
        state == JobState.DELAYED ? at : null,
        state == JobState.DELAYED ? job.at() : null,
        state == JobState.RESERVED ? lease(job) : null,
        successor(job),
        state == JobState.DEAD ? at : null,
        job.deathReason(),
        state == JobState.FINISHED ? at : null,
        finisher(job),
        state == JobState.CANCELLED ? at : null,
        state == JobState.CANCELLED && job.ending() != null ? job.ending().by() : null,
        job.restorableUntil() == null ? null : Instant.ofEpochMilli(job.restorableUntil()),
        state == JobState.FINISHED || state == JobState.CANCELLED ? null : attempts(job),
        job.acceptedAt() > 0 ? Instant.ofEpochMilli(job.acceptedAt()) : null,
        job.submitter(),
        content == null ? null : content.params(),
        content == null ? Map.of() : content.headers(),
        job.tags(),
        JobRequest.EventName.of(job.cancelOn()),
        JobRequest.EventName.of(job.runOn()),
        positive(job.timeToRun()),
        content == null || content.retry() == null ? null : content.retry().text(),
        job.notAfter(),
        content == null || content.timeRules().within() == null
            ? null
            : content.timeRules().within().toMillis(),
        content == null || content.timeRules().window() == null
            ? null
            : content.timeRules().window().toString(),
        content == null || content.timeRules().windowZone() == null
            ? null
            : ScheduleRequest.zoneName(content.timeRules().windowZone()),
        content == null ? null : content.timeRules().calendar(),
        failures.isEmpty() ? null : failures.get(0),
        failures);
  }

  private static Lease lease(JobView job) {
    return new Lease(
        job.attempt(),
        job.owner(),
        Instant.ofEpochMilli(job.at()),
        job.cancelling() ? Boolean.TRUE : null);
  }

  private static @Nullable Successor successor(JobView job) {
    Long due = job.successorDue();
    return due == null ? null : new Successor(Instant.ofEpochMilli(due));
  }

  private static @Nullable Finisher finisher(JobView job) {
    Ending ending = job.ending();
    return ending == null || job.state() != JobState.FINISHED
        ? null
        : new Finisher(
            ending.attempt(),
            Instant.ofEpochMilli(ending.startedAt()),
            Math.max(0, job.at() - ending.startedAt()),
            ending.late(),
            ending.by());
  }

  private static Attempts attempts(JobView job) {
    return new Attempts(
        job.tries().failed(),
        job.tries().unknown(),
        job.tries().undeliverable(),
        job.tries().counted(),
        job.maxAttempts());
  }

  private static @Nullable Long positive(long number) {
    return number > 0 ? number : null;
  }
}
