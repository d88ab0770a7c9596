package io.punctual.server.migrate;

/** Whether a scheduler did what it was asked is not known: ask the same again. */
final class UnavailableException extends Exception {
  private static final long serialVersionUID = 1L;

  UnavailableException(String message) {
    super(message);
  }
}
