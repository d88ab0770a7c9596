package io.punctual.server.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.punctual.server.jobs.ClaimService;
import io.punctual.server.jobs.JobResult;
import io.punctual.server.jobs.JobService;
import io.punctual.server.jobs.NewJob;
import io.punctual.server.jobs.Submitted;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What became of a job that a call submitted, changed or ended; what is not known is absent.
 *
 * @param attempt which is told to stop
 * @param version null where the job ran already, or has none
 * @param served false if this scheduler knows no worker that would run the job; absent otherwise
 * @param hint why not, or why that is not known
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record JobAnswer(
    @Nullable String application,
    @Nullable String taskType,
    @Nullable String taskId,
    @Nullable String outcome,
    @Nullable Integer attempt,
    @Nullable Instant dueAt,
    @Nullable Long delayTime,
    @Nullable Long version,
    @Nullable Boolean served,
    @Nullable String hint) {

  /**
   * The answer to a submit.
   *
   * @param notice what to say of the job's workers; null if it has some
   */
  static JobAnswer of(Submitted.Accepted submitted, JobService.@Nullable Notice notice) {
    NewJob job = submitted.job();
    return new JobAnswer(
        job.application(),
        job.job().taskType(),
        job.job().taskId(),
        JobService.text(submitted.outcome()),
        null,
        Instant.ofEpochMilli(submitted.dueAt()),
        submitted.dueAt(),
        submitted.number(),
        (notice != null && notice.unserved()) ? Boolean.FALSE : null,
        notice == null ? null : notice.text());
  }

  /** Omits fields that the client sent itself, and the version where it is 1, as of most. */
  static JobAnswer minimal(Submitted.Accepted job) {
    Long version = job.number();
    return new JobAnswer(
        null,
        null,
        job.job().named() ? null : job.job().job().taskId(),
        JobService.text(job.outcome()),
        null,
        null,
        job.dueAt(),
        version == null || version == 1 ? null : version,
        null,
        null);
  }

  /** The answer where nothing is known but the id. */
  static JobAnswer of(@Nullable String taskId) {
    return new JobAnswer(null, null, taskId, null, null, null, null, null, null, null);
  }

  /** The answer to a change. */
  static JobAnswer of(JobResult.Done done) {
    return new JobAnswer(
        done.job().queue().application(),
        done.job().queue().taskType(),
        done.job().taskId(),
        done.outcome(),
        done.attempt() > 0 ? done.attempt() : null,
        instant(done.dueAt()),
        done.dueAt(),
        done.number() > 0 ? done.number() : null,
        null,
        null);
  }

  /** The answer to the end of a claimed job, which is due again or not. */
  static JobAnswer of(ClaimService.Settlement end) {
    return new JobAnswer(
        null,
        null,
        null,
        end.outcome().text(),
        null,
        instant(end.dueAt()),
        end.dueAt(),
        null,
        null,
        null);
  }

  private static @Nullable Instant instant(@Nullable Long millis) {
    return millis == null ? null : Instant.ofEpochMilli(millis);
  }
}
