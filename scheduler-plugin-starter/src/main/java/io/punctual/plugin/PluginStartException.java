package io.punctual.plugin;

/** The application cannot start as it is; says what is wrong and what to do. */
final class PluginStartException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String description;
  private final String action;

  PluginStartException(String description, String action) {
    super(description + " " + action);
    this.description = description;
    this.action = action;
  }

  String description() {
    return description;
  }

  String action() {
    return action;
  }
}
