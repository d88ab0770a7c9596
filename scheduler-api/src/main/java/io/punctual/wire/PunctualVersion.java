package io.punctual.wire;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * The version of this release. A resource has it, not the manifest: if an application is one
 * archive with its libraries, the manifest is the application's.
 */
public final class PunctualVersion {

  private static final String VERSION = read();

  private PunctualVersion() {}

  /** Returns the version; {@code unknown} if its resource is missing or cannot be read. */
  public static String text() {
    return VERSION;
  }

  private static String read() {
    try (InputStream resource = PunctualVersion.class.getResourceAsStream("version")) {
      return resource == null
          ? "unknown"
          : new String(resource.readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      return "unknown";
    }
  }
}
