package io.punctual.client;

import io.punctual.wire.Limits;
import java.util.Locale;

/**
 * Who this application is, to schedulers.
 *
 * @param application in lower case
 */
public record ClientIdentity(String application) {

  /**
   * Checks the name and lowers its case.
   *
   * @throws IllegalStateException if it is no valid name
   */
  public ClientIdentity {
    if (!Limits.isName(application)) {
      throw new IllegalStateException(
          "Punctual needs a name for this application: set spring.application.name (or"
              + " punctual.application); it "
              + Limits.NAME_RULE
              + ", and is '"
              + application
              + "'");
    }
    application = application.toLowerCase(Locale.ROOT);
  }
}
