package io.punctual.server.check;

/** A move of a job did not do what it does on Redis. */
final class MoveFailedException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  MoveFailedException(String message) {
    super(message);
  }
}
