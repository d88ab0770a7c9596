package io.punctual.server.dispatch.callback;

/**
 * A program without the application's key answered: every attempt was ended, and nothing should be
 * sent there again soon.
 */
public final class UntrustedAnswerException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  UntrustedAnswerException(String message) {
    super(message);
  }

  /** What was wrong with the answer. */
  public String reason() {
    return String.valueOf(getMessage());
  }
}
