package io.punctual.server.migrate;

/** A job that is left where it was; the message continues a sentence that begins "A job". */
final class UnreadableException extends Exception {
  private static final long serialVersionUID = 1L;

  UnreadableException(String message) {
    super(message, null, false, false);
  }
}
