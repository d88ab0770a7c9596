package io.punctual.schedule;

/** Which of the two counts where a local time comes twice, because the clocks were set back. */
public enum Fold {
  /** The first one, before the clocks are set back. */
  FIRST,
  /** The last one, after the clocks were set back. */
  LAST,
  /** Both. */
  BOTH
}
