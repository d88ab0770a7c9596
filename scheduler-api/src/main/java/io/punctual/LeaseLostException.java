package io.punctual;

/**
 * The job is not this attempt's any more: its time was over, whoever kept it was away for too long,
 * or somebody ended it. It is delivered again, or was already; what this attempt still does may be
 * done twice. Nothing was changed.
 */
public class LeaseLostException extends PunctualException {

  private static final long serialVersionUID = 1L;

  /**
   * @param message which job, and what became of it
   */
  public LeaseLostException(String message) {
    super(ErrorCode.LEASE_LOST, message);
  }
}
