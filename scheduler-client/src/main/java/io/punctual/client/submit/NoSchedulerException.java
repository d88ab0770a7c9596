package io.punctual.client.submit;

import io.punctual.SchedulerUnavailableException;
import java.time.Duration;

/** No scheduler took a call; says why and what to do, apart from each other. */
public final class NoSchedulerException extends SchedulerUnavailableException {

  private static final long serialVersionUID = 1L;

  private final String reason;
  private final String remedy;

  /**
   * @param outcome what is known of the call, as the begin of the message; may be empty
   * @param reason what was seen, in whole sentences
   * @param remedy what to do, in whole sentences
   * @param mayHaveTakenEffect false where it is certain that nothing was changed
   */
  NoSchedulerException(
      String outcome,
      String reason,
      String remedy,
      Duration retryAfter,
      boolean mayHaveTakenEffect,
      Throwable cause) {
    super(outcome + reason + " " + remedy, retryAfter, mayHaveTakenEffect, cause);
    this.reason = reason;
    this.remedy = remedy;
  }

  /** Returns what was seen, in whole sentences. */
  public String reason() {
    return reason;
  }

  /** Returns what to do, in whole sentences. */
  public String remedy() {
    return remedy;
  }
}
