package io.punctual;

/** Thrown by a {@link TaskWorker}: this job can never succeed; keep it as a dead letter. */
public class RejectTaskException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /**
   * @param reason why, in words for whoever looks at the dead letter
   */
  public RejectTaskException(String reason) {
    super(reason);
  }
}
