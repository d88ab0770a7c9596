package io.punctual.server.dispatch.callback;

import java.time.Duration;

/** Makes the exceptions that protocols throw, for tests of what follows. */
public final class NotSent {

  private NotSent() {}

  public static NotSentException byInstance(String reason, Duration avoid) {
    return NotSentException.byInstance(reason, avoid, null);
  }

  public static NotSentException byType(String reason, Duration avoid) {
    return NotSentException.byType(reason, avoid);
  }

  public static NotSentException byLease() {
    return NotSentException.byLease();
  }
}
