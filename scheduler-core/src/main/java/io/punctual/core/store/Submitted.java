package io.punctual.core.store;

import io.punctual.core.job.JobRecord;
import io.punctual.core.job.JobVersion;
import io.punctual.core.store.durability.Reached;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Answers to a submit.
 *
 * @param newHead the earliest due time of the bucket when one of these jobs became the earliest,
 *     else null
 * @param reached where the changes were when they were answered
 */
public record Submitted(long now, List<Item> items, @Nullable Long newHead, Reached reached) {

  /** Answered by Redis alone. */
  public Submitted(long now, List<Item> items, @Nullable Long newHead) {
    this(now, items, newHead, Reached.REDIS);
  }

  /**
   * The answer for one job.
   *
   * @param due epoch ms at which the job is due, or was when it was claimed or died; for
   *     ALREADY_DONE and CONFLICT_DONE when it finished; for MERGED at the earliest, if it waits
   *     for the end of a job; 0 for IN_DELIVERY
   * @param attempt of IN_DELIVERY
   * @param existing the record of the other job, for CONFLICT
   * @param version of the job that is there; its incarnation is empty where its record is not
   *     readable. Null for ALREADY_DONE and CONFLICT_DONE
   */
  public record Item(
      Kind kind,
      long due,
      int attempt,
      @Nullable JobRecord existing,
      @Nullable JobVersion version) {}

  /** The cases. */
  public enum Kind {
    /** Stored. */
    CREATED,
    /** The same job is there; nothing changed. */
    ALREADY_THERE,
    /** The same job ran a short while ago; nothing changed. */
    ALREADY_DONE,
    /** Another job gave way. */
    REPLACED,
    /** No job was added to the one that is there, as asked. */
    MERGED,
    /** Stored or there, and cancelled by an event that came before. The engine says so. */
    CANCELLED_BY_EVENT,
    /** Another job is there; nothing changed. */
    CONFLICT,
    /** Another job of this id ran a short while ago; nothing changed. */
    CONFLICT_DONE,
    /** Another job is there and being worked on; nothing changed. */
    IN_DELIVERY
  }
}
