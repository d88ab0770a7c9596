package io.punctual.schedule;

/**
 * The choice between the two instants of a local time that comes twice, because the clocks were set
 * back.
 */
public enum Fold {
  /** The first one, before the clocks are set back. */
  FIRST,
  /** The last one, after the clocks were set back. */
  LAST,
  /** Both. */
  BOTH
}
