package io.punctual.registry;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What a password must be like: long, and not one that everybody tries. What is left of it without
 * the words that everybody tries must have some letters, so that padding does not help.
 */
final class PasswordRule {

  static final int SHORTEST = 16;

  private static final int FEWEST_DIFFERENT = 6;

  private static final Pattern SEPARATORS = Pattern.compile("[\\s_.-]");

  /** Longer ones before those that they contain. */
  private static final Pattern WELL_KNOWN =
      Pattern.compile(
          "changeit|changeme|change|defaulttoken|default|password|passwort|passwd|pass|admin(istrator)?"
              + "|secret|token|punctual|scheduler|registry|eureka|redis|spring|letmein|welcome"
              + "|qwertyuiop|qwerty|example|sample|insecure|root|user|test|abcdefghijklmnopqrstuvwxyz"
              + "|abcdefghijklmnop|abcdefgh|abcdef|0?123456789(0|abcdef)?|12345678|123456|1234");

  private PasswordRule() {}

  /** What is wrong with a password; the password is not in it. */
  static Optional<String> violation(String password) {
    String text = password.strip();
    if (text.isEmpty()) {
      return Optional.of("is not set");
    }
    if (text.startsWith("${")) {
      return Optional.of("refers to a variable that is not set");
    }
    if (text.length() < SHORTEST) {
      return Optional.of("is shorter than " + SHORTEST + " characters");
    }
    String letters = SEPARATORS.matcher(text.toLowerCase(Locale.ROOT)).replaceAll("");
    String rest = WELL_KNOWN.matcher(letters).replaceAll("");
    if (rest.chars().distinct().count() < FEWEST_DIFFERENT) {
      return Optional.of("is one that everybody tries, or such a one made longer");
    }
    return Optional.empty();
  }
}
