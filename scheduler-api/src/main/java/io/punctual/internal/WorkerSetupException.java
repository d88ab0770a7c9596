package io.punctual.internal;

/** The application cannot start as it is; says what is wrong and what to do. */
public final class WorkerSetupException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String description;
  private final String action;

  public WorkerSetupException(String description, String action) {
    super(description + " " + action);
    this.description = description;
    this.action = action;
  }

  /** What is wrong. */
  public String description() {
    return description;
  }

  /** What to do. */
  public String action() {
    return action;
  }
}
