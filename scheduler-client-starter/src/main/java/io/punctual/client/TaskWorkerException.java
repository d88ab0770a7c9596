package io.punctual.client;

/** The workers of the application do not fit together; it cannot start. */
public final class TaskWorkerException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String description;
  private final String action;

  TaskWorkerException(String description, String action) {
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
