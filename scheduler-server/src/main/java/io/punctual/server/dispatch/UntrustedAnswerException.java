package io.punctual.server.dispatch;

/**
 * Somebody without the application's key answered: every attempt was ended, and nothing should be
 * sent there again soon.
 */
final class UntrustedAnswerException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  UntrustedAnswerException(String message) {
    super(message);
  }
}
