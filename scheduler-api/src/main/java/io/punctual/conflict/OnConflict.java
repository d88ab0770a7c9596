package io.punctual.conflict;

import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Says what a submit does if a job with its id exists.
 *
 * @param atMost how long a debounce may delay the first submit of its window; null for all other
 *     rules
 */
public record OnConflict(Rule rule, @Nullable Duration atMost) {

  /** Accepts the same job and rejects one with other content. */
  public static final OnConflict REFUSE = new OnConflict(Rule.REFUSE, null);

  /** Replaces a job that waits or is dead. */
  public static final OnConflict REPLACE = new OnConflict(Rule.REPLACE, null);

  /** The cases. */
  public enum Rule {
    /** The same job is accepted, one with other content rejected. */
    REFUSE,
    /** A job that waits or is dead is replaced; one that a worker has is not. */
    REPLACE,
    /** Submits are gathered until none comes for a while; the last one runs. */
    DEBOUNCE_LAST,
    /** As {@link #DEBOUNCE_LAST}, but the first one runs. */
    DEBOUNCE_FIRST,
    /** One runs, and one waits for its end: {@link WhileRunning#QUEUE_ONE}. */
    QUEUE_ONE,
    /** One waits or runs: {@link WhileRunning#DROP}. */
    DROP,
    /** One runs, and the last one waits for its end: {@link WhileRunning#REPLACE_QUEUED}. */
    REPLACE_QUEUED
  }

  /** Which of the submits that a debounce gathers runs. */
  public enum Keep {
    /** The last one. */
    LAST,
    /** The first one. */
    FIRST
  }

  /**
   * Says what a submit does while a job with its id runs. A job runs from its first attempt until
   * it is done, dead or cancelled, also while it waits for a retry. A job that has not begun counts
   * as the one that waits.
   */
  public enum WhileRunning {
    /** The submit waits for the end of the job, unless another one waits. */
    QUEUE_ONE,
    /** The submit is dropped. */
    DROP,
    /** The submit waits for the end of the job and replaces one that waits. */
    REPLACE_QUEUED
  }

  /** Checks that a debounce has a bound, and no other rule has one. */
  public OnConflict {
    boolean debounce = rule == Rule.DEBOUNCE_LAST || rule == Rule.DEBOUNCE_FIRST;
    if (debounce != (atMost != null)) {
      throw new IllegalArgumentException(
          debounce ? "atMost is missing" : "atMost is for a debounce, not for " + rule);
    }
  }

  /**
   * Gathers submits.
   *
   * @param atMost how long the first of them may be delayed; at least the job's delay, which counts
   *     from the last of them
   */
  public static OnConflict debounce(Duration atMost, Keep keep) {
    return new OnConflict(keep == Keep.LAST ? Rule.DEBOUNCE_LAST : Rule.DEBOUNCE_FIRST, atMost);
  }

  /** Lets one job run and at most one wait. */
  public static OnConflict whileRunning(WhileRunning rule) {
    return new OnConflict(Rule.valueOf(rule.name()), null);
  }

  /** Whether it gathers submits. */
  public boolean isDebounce() {
    return atMost != null;
  }

  /** Whether a submit may be merged into the existing job, or wait for its end. */
  public boolean merges() {
    return rule != Rule.REFUSE && rule != Rule.REPLACE;
  }

  /** Reads {@link #toString()}. */
  public static OnConflict parse(String text) {
    int space = text.indexOf(' ');
    return new OnConflict(
        Rule.valueOf((space < 0 ? text : text.substring(0, space)).toUpperCase(Locale.ROOT)),
        space < 0 ? null : Duration.parse(text.substring(space + 1)));
  }

  /**
   * Returns the rule in lower case, and the bound of a debounce, as in {@code debounce_last PT10S}.
   */
  @Override
  public String toString() {
    return rule.name().toLowerCase(Locale.ROOT) + (atMost == null ? "" : " " + atMost);
  }
}
