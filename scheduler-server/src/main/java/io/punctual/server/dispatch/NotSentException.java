package io.punctual.server.dispatch;

import java.time.Duration;

/** Nothing ran on the instance: another one may be tried at once, and no attempt is used up. */
final class NotSentException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String reason;
  private final Duration avoid;

  /**
   * @param avoid how long the instance is better left alone
   */
  NotSentException(String message, Duration avoid) {
    super(message);
    this.reason = message;
    this.avoid = avoid;
  }

  String reason() {
    return reason;
  }

  Duration avoid() {
    return avoid;
  }
}
