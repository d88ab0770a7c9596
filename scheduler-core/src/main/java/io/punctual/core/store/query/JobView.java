package io.punctual.core.store.query;

import io.punctual.DelayQueueJob.Event;
import io.punctual.core.job.AttemptCounts;
import io.punctual.core.job.Ending;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.EventTags;
import io.punctual.core.job.IndexTags;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.JobState;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.QueueName;
import io.punctual.core.times.StartTimes;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A job as it is now.
 *
 * @param now the store's time when it was looked at, epoch ms
 * @param at epoch ms: due time, lease deadline, time of death, or when it finished or was cancelled
 * @param record without content in lists; null for FINISHED and CANCELLED, and for a dead letter
 *     whose record is gone
 * @param lease who works on it, for RESERVED
 * @param failures what went wrong, newest first, the last ten at most
 * @param successorDue epoch ms at which the job would be due that waits for the end of this one, if
 *     it ended now; null if none waits, and in lists
 * @param ending how the job ended, for FINISHED and CANCELLED; null if that is not known
 * @param restorableUntil epoch ms until which the cancel can be undone, for CANCELLED; null if it
 *     cannot be undone, and for other jobs
 */
public record JobView(
    long now,
    QueueName queue,
    String taskId,
    JobState state,
    long at,
    @Nullable JobRecord record,
    AttemptCounts tries,
    @Nullable LeaseInfo lease,
    List<Failure> failures,
    @Nullable Long successorDue,
    @Nullable Ending ending,
    @Nullable Long restorableUntil) {

  /** The number of the job's last change; 0 for FINISHED and CANCELLED. */
  public long version() {
    return switch (state) {
      case DELAYED, DEAD -> tries.version();
      case RESERVED -> lease == null ? 0 : lease.version();
      case FINISHED, CANCELLED -> 0;
    };
  }

  /** Epoch ms at which it was accepted; 0 when the record is gone. */
  public long acceptedAt() {
    return record == null ? 0 : record.acceptedAt();
  }

  /** Tells the job from others of its id; null when the record is gone. */
  public @Nullable String incarnation() {
    return record == null ? null : record.incarnation();
  }

  /** Who submitted it, as far as that is known. */
  public @Nullable String submitter() {
    return record == null ? null : record.origin().submitter();
  }

  /** Ms that one attempt may take; 0 if the job did not say. */
  public long timeToRun() {
    return record == null ? 0 : record.timeToRun();
  }

  /** Those that the submitter gave, in ascending order. */
  public List<String> tags() {
    return record == null ? List.of() : IndexTags.withoutThem(record.tags());
  }

  /** Events that cancel the job. */
  public List<Event> cancelOn() {
    return record == null ? List.of() : EventTags.events(record.tags(), true);
  }

  /** Events that make the job due. */
  public List<Event> runOn() {
    return record == null ? List.of() : EventTags.events(record.tags(), false);
  }

  /** How often it may be tried; 0 when the record is gone. */
  public int maxAttempts() {
    return record == null ? 0 : record.maxAttempts();
  }

  /** Decodes the content; null in lists, and when it is gone or cannot be read. */
  public @Nullable JobContent content() {
    return record == null || record.content().length == 0 ? null : JobRecord.readOrNull(record);
  }

  /**
   * The number of the attempt under way, or of the last one; 0 if there was none, or if that is not
   * known of a job that ended.
   */
  public int attempt() {
    if (lease != null) {
      return lease.attempt();
    }
    return ending == null ? tries.attempts() : ending.attempt();
  }

  /** Who holds the lease, a scheduler or a puller, when reserved. */
  public @Nullable String owner() {
    return lease == null ? null : lease.owner();
  }

  /** Whether it runs and is to stop. */
  public boolean cancelling() {
    return lease != null && lease.cancelling();
  }

  /** Whether it waits and is due. */
  public boolean ready() {
    return state == JobState.DELAYED && at <= now;
  }

  /** The last moment at which an attempt may start; null in lists, and if there is none. */
  public @Nullable Instant notAfter() {
    JobContent content = content();
    long last =
        content == null ? StartTimes.NEVER : StartTimes.last(content.timeRules(), acceptedAt());
    return last == StartTimes.NEVER ? null : Instant.ofEpochMilli(last);
  }

  /**
   * Why it is a dead letter: {@code attempts}, {@code deliveries}, {@code rejected}, {@code
   * expired} or {@code corrupt}; null if it is none.
   */
  public @Nullable String deathReason() {
    Failure last = lastFailure();
    return state == JobState.DEAD && last != null && last.disposition().startsWith("dead-")
        ? last.disposition().substring("dead-".length())
        : null;
  }

  /** The last thing that went wrong, if anything did. */
  public @Nullable Failure lastFailure() {
    return failures.isEmpty() ? null : failures.get(0);
  }

  /**
   * The lease of a reserved job.
   *
   * @param ownerIsWorker whether the owner is the worker: true for a pulled job, and in plugin mode
   *     for a job that runs alone
   * @param due the due time of the attempt under way, epoch ms
   * @param version the number of the claim among the job's changes
   * @param cancelling whether the attempt is to stop
   */
  public record LeaseInfo(
      LeaseToken token,
      int attempt,
      boolean ownerIsWorker,
      long claimedAt,
      long due,
      long version,
      String owner,
      boolean cancelling) {}

  /**
   * An attempt that went wrong.
   *
   * @param at epoch ms
   * @param kind the settlement (failed, unknown, undeliverable, rejected, expired), lease or
   *     corrupt
   * @param disposition what it led to: {@code retry} or {@code dead-...}
   * @param attempt its number; 0 for corrupt and expired
   * @param startedAt epoch ms at which it was claimed; 0 for corrupt and expired
   */
  public record Failure(
      long at, String kind, String disposition, int attempt, long startedAt, ErrorNote note) {

    /** Where; empty if nowhere. */
    public String instance() {
      return note.instance();
    }

    /** The application's release there; empty if it is not known. */
    public String release() {
      return note.release();
    }

    /** What went wrong, for people. */
    public String message() {
      if (!note.message().isEmpty()) {
        return note.message();
      }
      return switch (kind) {
        case "lease" -> "the lease ran out: its scheduler or worker went away unheard";
        case "corrupt" -> "the stored record was gone";
        case "expired" -> "it could not start in time: notAfter or expiresIn had passed";
        default -> "";
      };
    }
  }
}
