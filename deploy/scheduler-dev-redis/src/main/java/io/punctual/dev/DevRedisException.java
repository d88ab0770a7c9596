package io.punctual.dev;

import org.jspecify.annotations.Nullable;

/** The Redis of the profile dev cannot be had; says why and what to do. */
final class DevRedisException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String description;
  private final String action;

  DevRedisException(String description, String action, @Nullable Throwable cause) {
    super(description + " " + action, cause);
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
