package io.punctual;

/** The root of what our calls throw. The message says what was wrong and what to do about it. */
public class PunctualException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final ErrorCode code;

  /**
   * @param message what was wrong, where, and what to do
   */
  public PunctualException(ErrorCode code, String message) {
    super(message);
    this.code = code;
  }

  /**
   * @param message what was wrong, where, and what to do
   */
  public PunctualException(ErrorCode code, String message, Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  /** Which error it is. */
  public ErrorCode code() {
    return code;
  }

  /**
   * Whether the same call may succeed later without any change to it. Repeat it then with the same
   * task id: if the lost call did arrive, the repetition changes nothing.
   */
  public boolean isTransient() {
    return code.isTransient();
  }
}
