package io.punctual.core.job;

import java.nio.charset.StandardCharsets;

/**
 * An error as stored with a job: the instance, a tab and the release if that is known, a line
 * break, the message, in UTF-8.
 *
 * @param instance where it went wrong; empty if nowhere
 * @param release of the application there; empty if it is not known
 */
public record ErrorNote(String instance, String release, String message) {

  /** Longest note, in bytes. */
  public static final int MAX_BYTES = 2048;

  /** Longest instance and release, in characters each. */
  static final int MAX_FIELD = 256;

  /** One whose release is not known. */
  public ErrorNote(String instance, String message) {
    this(instance, "", message);
  }

  public byte[] encode() {
    String where = field(instance);
    byte[] bytes =
        (where + (release.isEmpty() ? "" : "\t" + field(release)) + "\n" + message)
            .getBytes(StandardCharsets.UTF_8);
    if (bytes.length <= MAX_BYTES) {
      return bytes;
    }
    int end = MAX_BYTES;
    // A byte 10xxxxxx goes on with a character that began before.
    while ((bytes[end] & 0xc0) == 0x80) {
      end--;
    }
    return java.util.Arrays.copyOf(bytes, end);
  }

  private static String field(String text) {
    String field = text.replace('\n', ' ').replace('\t', ' ');
    return field.length() > MAX_FIELD ? field.substring(0, MAX_FIELD) : field;
  }

  public static ErrorNote decode(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    int line = text.indexOf('\n');
    if (line < 0) {
      return new ErrorNote("", text);
    }
    String where = text.substring(0, line);
    String message = text.substring(line + 1);
    int tab = where.indexOf('\t');
    return tab < 0
        ? new ErrorNote(where, message)
        : new ErrorNote(where.substring(0, tab), where.substring(tab + 1), message);
  }
}
