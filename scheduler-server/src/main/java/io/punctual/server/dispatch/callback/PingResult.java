package io.punctual.server.dispatch.callback;

import java.net.http.HttpHeaders;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The result of a ping. */
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
   * The ping was answered.
   *
   * @param body the first part of it
   * @param speaksTls whether the port speaks TLS, where the registry says http; looked at only
   *     where the server did not understand the ping
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
    /** No signature was expected. */
    NOT_WANTED,
    /** It is not signed, at least not to its end. */
    MISSING,
    /** It is signed with another key, or for another address. */
    WRONG,
    /** It is the application's. */
    RIGHT
  }
}
