package io.punctual.registry;

/** The registry may not start as it was set up. */
final class RegistrySetupException extends RuntimeException {

  private final String action;

  /**
   * @param description what is wrong, and where; never a password
   * @param action what to do
   */
  RegistrySetupException(String description, String action) {
    super(description);
    this.action = action;
  }

  String action() {
    return action;
  }

  @Override
  public String getMessage() {
    return super.getMessage() + " " + action;
  }

  String description() {
    return String.valueOf(super.getMessage());
  }
}
