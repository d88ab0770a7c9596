package io.punctual;

/** The scheduler refused the input; the message names the field. Repeating the call is useless. */
public class InvalidJobException extends PunctualException {

  private static final long serialVersionUID = 1L;

  /**
   * @param message names the field and what it must be
   */
  public InvalidJobException(String message) {
    this(ErrorCode.INVALID, message);
  }

  /**
   * @param code what is wrong with the input: INVALID, or a code that is more exact
   * @param message names the field and what it must be
   */
  public InvalidJobException(ErrorCode code, String message) {
    super(code, message);
  }
}
