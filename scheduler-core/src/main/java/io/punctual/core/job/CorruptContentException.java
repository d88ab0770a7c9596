package io.punctual.core.job;

/** Stored bytes that are not a job's content; the message says what is wrong with them. */
public class CorruptContentException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  public CorruptContentException(String message) {
    super("corrupt content: " + message);
  }

  public CorruptContentException(String message, Throwable cause) {
    super("corrupt content: " + message, cause);
  }
}
