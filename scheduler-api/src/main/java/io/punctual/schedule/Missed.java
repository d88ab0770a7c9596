package io.punctual.schedule;

/**
 * What becomes of occurrences that no scheduler could submit within a minute, as after an outage.
 */
public enum Missed {
  /** None of them runs. */
  NONE,
  /** The latest one runs, unless a later occurrence is on time. */
  LATEST,
  /** All of them run. */
  ALL
}
