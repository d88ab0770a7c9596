package io.punctual.server.jobs;

import io.punctual.core.job.JobVersion;
import io.punctual.core.store.durability.Reached;
import io.punctual.server.problem.ApiException;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The result of a submit. */
public sealed interface Submitted {

  /** Returns the job; null where it could not be read, or the application has no quota left. */
  @Nullable NewJob job();

  /**
   * The scheduler has the job.
   *
   * @param dueAt epoch ms
   * @param version null where the job ran already
   */
  record Accepted(
      NewJob job, Outcome outcome, long dueAt, @Nullable JobVersion version, Reached reached)
      implements Submitted {

    /** Returns the number of the job's last change; null where the job ran already. */
    public @Nullable Long number() {
      return version == null ? null : Long.valueOf(version.number());
    }
  }

  /** How the scheduler came to have the job. */
  enum Outcome {
    /** It is new. */
    CREATED,
    /** The same job was submitted before. */
    ALREADY_THERE,
    /** The same job was submitted before, and ran. */
    ALREADY_DONE,
    /** It took the place of another job with its id. */
    REPLACED,
    /** No new job was made, as asked. */
    MERGED,
    /** An event in its {@code cancelOn} came a short while ago: it is cancelled. */
    CANCELLED_BY_EVENT
  }

  /**
   * Another job has the id.
   *
   * @param differing the parts in which it differs; empty where it ran
   * @param ran when the other job ran; null if it did not
   * @param remembered until when its id is; null if it did not run
   */
  record Conflict(
      NewJob job, List<String> differing, @Nullable Instant ran, @Nullable Instant remembered)
      implements Submitted {

    /** Returns what is in the way, as the rest of a sentence; the adapter adds the remedy. */
    public String reason() {
      return ran == null
          ? "it differs in " + String.join(", ", differing)
          : "it ran at " + ran + ", and its id is remembered until " + remembered;
    }
  }

  /** The job that would be replaced is with a worker. */
  record InDelivery(NewJob job, int attempt) implements Submitted {}

  /** The job was not submitted, or that is not known. */
  record Refused(@Nullable NewJob job, ApiException problem) implements Submitted {}
}
