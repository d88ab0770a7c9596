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
   * Whether the same call may succeed later without any change to it. Repeat it then, soon, with
   * the same task id: if the lost call did arrive, a job that is sent again is no second one while
   * the first is there, and for {@code punctual.tombstones} (10 minutes by default, always in
   * plugin mode) after it is done; later, it is a new job. To cancel again changes nothing; a delay
   * that is given again counts anew.
   */
  public boolean isTransient() {
    return code.isTransient();
  }
}
