package io.punctual.server.rest;

import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What a caller would like to have in an answer (RFC 7240). */
final class Preference {

  /** The header that says it. */
  static final String HEADER = "Prefer";

  /** The header that says that it is so. */
  static final String APPLIED = "Preference-Applied";

  /** Nothing that the caller knows already. */
  static final String MINIMAL = "return=minimal";

  private Preference() {}

  static boolean isMinimal(@Nullable String prefer) {
    // The first one counts.
    return prefer != null
        && Arrays.stream(prefer.split(",", -1))
            .map(preference -> preference.strip().toLowerCase(Locale.ROOT))
            .filter(preference -> preference.startsWith("return="))
            .findFirst()
            .filter(MINIMAL::equals)
            .isPresent();
  }
}
