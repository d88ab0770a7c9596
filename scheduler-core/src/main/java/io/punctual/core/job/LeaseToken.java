package io.punctual.core.job;

import java.util.regex.Pattern;

/** The right to speak for one attempt. Unguessable; one for all jobs of a claim. */
public record LeaseToken(String value) {

  private static final Pattern FORM = Pattern.compile("[!-~]{1,64}");

  /** Checks the form: 1 to 64 printable characters without spaces. */
  public LeaseToken {
    if (!FORM.matcher(value).matches()) {
      throw new IllegalArgumentException(
          "a lease token must be 1 to 64 printable characters without spaces");
    }
  }
}
