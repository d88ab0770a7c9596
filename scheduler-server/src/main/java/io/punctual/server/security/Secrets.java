package io.punctual.server.security;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What is too weak to be a secret. */
final class Secrets {

  /** What to do about a missing key. */
  static final String MAKE_KEY = "make one with the command signing-key";

  /** What scanners try first. */
  static final List<String> WELL_KNOWN =
      List.of("admin", "password", "changeme", "secret", "punctual", "default_token", "123456");

  private static final int MIN_LENGTH = 32;
  private static final int MIN_DISTINCT = 8;

  private Secrets() {}

  /** Why it is no secret; null if it may be one. The secret itself is not in the answer. */
  static @Nullable String weakness(String secret) {
    String plain = secret.strip().toLowerCase(Locale.ROOT);
    if (plain.isEmpty()) {
      return "is empty";
    } else if (WELL_KNOWN.stream().anyMatch(plain::startsWith)) {
      return "is well known, or begins like one that is";
    } else if (plain.length() < MIN_LENGTH) {
      return "is too short: it must have " + MIN_LENGTH + " characters or more";
    } else if (plain.chars().distinct().count() < MIN_DISTINCT) {
      return "repeats too few characters to be random";
    }
    return null;
  }
}
