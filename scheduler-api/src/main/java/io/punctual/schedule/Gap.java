package io.punctual.schedule;

/** The rule for a local time that does not exist, because the clocks were set forward over it. */
public enum Gap {
  /** It is moved by the length of the gap: 02:30 becomes 03:30. */
  SHIFT,
  /** It is left out. */
  SKIP
}
