package io.punctual.schedule;

/**
 * The rule for occurrences that no scheduler could submit within a minute, for example in an
 * outage.
 */
public enum Missed {
  /** None of them runs. */
  NONE,
  /** The latest one runs, unless a later occurrence is on time. */
  LATEST,
  /** All of them run. */
  ALL
}
