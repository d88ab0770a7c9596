package io.punctual.systemtest;

/** Where a scheduler meets its end, seen from a script that it calls. */
enum CrashPoint {
  /** The call was sent and did not reach Redis. */
  BEFORE,
  /** Redis has run it, and the answer did not arrive. */
  BETWEEN,
  /** The answer has arrived a moment ago. */
  BEHIND
}
