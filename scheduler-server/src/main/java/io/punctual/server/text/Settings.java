package io.punctual.server.text;

import org.jspecify.annotations.Nullable;

/** Checks the values of properties; the messages name the property, the range and the value. */
public final class Settings {

  private Settings() {}

  /**
   * Checks a value.
   *
   * @param range what is allowed, as it follows "must be"
   * @throws IllegalArgumentException if it does not hold
   */
  public static void require(String property, boolean holds, String range, @Nullable Object value) {
    if (!holds) {
      throw new IllegalArgumentException(property + " must be " + range + ", not " + value);
    }
  }

  /**
   * Names the property that a value was refused for. Leaves the cause out: Boot shows the innermost
   * message, in which the property is not named.
   */
  public static IllegalArgumentException wrong(String property, IllegalArgumentException e) {
    return new IllegalArgumentException(property + e.getMessage());
  }
}
