package io.punctual.conflict;

import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a submit does if a job of its id is there.
 *
 * @param atMost how long a debounce may put off the first submit of its window; null for all other
 *     rules
 */
public record OnConflict(Rule rule, @Nullable Duration atMost) {

  /** Accepts the same job and refuses another one. */
  public static final OnConflict REFUSE = new OnConflict(Rule.REFUSE, null);

  /** Takes the place of a job that waits or is dead. */
  public static final OnConflict REPLACE = new OnConflict(Rule.REPLACE, null);

  /** The cases. */
  public enum Rule {
    /** The same job is accepted, another one refused. */
    REFUSE,
    /** A job that waits or is dead is replaced; one that a worker has is not. */
    REPLACE,
    /** Submits are gathered until there were none for a while; the last one is run. */
    DEBOUNCE_LAST,
    /** As {@link #DEBOUNCE_LAST}; the first one is run. */
    DEBOUNCE_FIRST,
    /** One runs, and one waits for its end: {@link WhileRunning#QUEUE_ONE}. */
    QUEUE_ONE,
    /** One waits or runs: {@link WhileRunning#DROP}. */
    DROP,
    /** One runs, and the last one waits for its end: {@link WhileRunning#REPLACE_QUEUED}. */
    REPLACE_QUEUED
  }

  /** Which of the submits that a debounce gathers is run. */
  public enum Keep {
    /** The last one. */
    LAST,
    /** The first one. */
    FIRST
  }

  /**
   * What a submit does while a job of its id runs. A job runs from its first attempt until it is
   * done, dead or cancelled: also while it waits for a retry. A job that has not begun is the one
   * that waits.
   */
  public enum WhileRunning {
    /** It waits for the end of the job, unless another one does. */
    QUEUE_ONE,
    /** It is dropped. */
    DROP,
    /** It waits for the end of the job, in the place of one that does. */
    REPLACE_QUEUED
  }

  /** Checks that there is a bound exactly where there is a debounce. */
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
   * @param atMost how long the first of them may be put off; at least the job's delay, which is
   *     counted from the last of them
   */
  public static OnConflict debounce(Duration atMost, Keep keep) {
    return new OnConflict(keep == Keep.LAST ? Rule.DEBOUNCE_LAST : Rule.DEBOUNCE_FIRST, atMost);
  }

  /** Keeps one that runs, and one that waits at most. */
  public static OnConflict whileRunning(WhileRunning rule) {
    return new OnConflict(Rule.valueOf(rule.name()), null);
  }

  /** Whether it gathers submits. */
  public boolean isDebounce() {
    return atMost != null;
  }

  /** Whether a submit may be added to the job that is there, or wait for its end. */
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
