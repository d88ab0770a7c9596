package io.punctual.client.json;

/** A text is no JSON, or lacks a member that must be there. */
public final class JsonException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  public JsonException(String message) {
    super(message);
  }

  public JsonException(Exception cause) {
    super(cause.getMessage(), cause);
  }
}
