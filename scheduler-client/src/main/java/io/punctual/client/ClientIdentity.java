package io.punctual.client;

import io.punctual.wire.Limits;
import io.punctual.wire.WorkerMetadata;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The name and the release with which this application calls schedulers.
 *
 * @param application in lower case
 * @param release of the application, as {@link WorkerMetadata#isRelease} allows; null if it is not
 *     known
 */
public record ClientIdentity(String application, @Nullable String release) {

  /**
   * Checks the name and lowers its case.
   *
   * @throws IllegalStateException if it is no valid name
   * @throws IllegalArgumentException if the release is none
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
    if (release != null && !WorkerMetadata.isRelease(release)) {
      throw new IllegalArgumentException(
          "release " + WorkerMetadata.RELEASE_RULE + ", but was '" + release + "'");
    }
  }

  /** One whose release is not known. */
  public ClientIdentity(String application) {
    this(application, null);
  }
}
