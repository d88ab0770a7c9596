package io.punctual.core.store;

/** The right to speak for one attempt. Unguessable; one for all jobs of a claim. */
public record LeaseToken(String value) {

  /** Checks the form: 1 to 64 printable characters without spaces. */
  public LeaseToken {
    if (!value.matches("[!-~]{1,64}")) {
      throw new IllegalArgumentException(
          "a lease token must be 1 to 64 printable characters without spaces");
    }
  }
}
