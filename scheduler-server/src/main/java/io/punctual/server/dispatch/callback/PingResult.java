package io.punctual.server.dispatch.callback;

import java.net.http.HttpHeaders;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What came of a ping. */
public sealed interface PingResult {

  /**
   * The address is none that may be called.
   *
   * @param reason which address, and which property says so
   */
  record NotCalled(String reason) implements PingResult {}

  /**
   * There was no answer, or none in HTTP.
   *
   * @param cause null where it says no more
   * @param speaksTls whether the port speaks TLS, where the registry says http
   */
  record NoAnswer(CallFailure failure, @Nullable Throwable cause, boolean speaksTls)
      implements PingResult {}

  /**
   * Somebody answered.
   *
   * @param body the first part of it
   * @param speaksTls whether the port speaks TLS, where the registry says http; looked at only
   *     where the answer is that of somebody who did not understand
   * @param at the middle of the call, by the clock here
   */
  record Answered(
      int status,
      HttpHeaders headers,
      String body,
      Signature signature,
      boolean speaksTls,
      Instant at)
      implements PingResult {}

  /** Whether an answer is the application's. */
  enum Signature {
    /** Nobody asked for one. */
    NOT_WANTED,
    /** It is not signed, at least not to its end. */
    MISSING,
    /** It is signed by somebody else. */
    WRONG,
    /** It is the application's. */
    RIGHT
  }
}
