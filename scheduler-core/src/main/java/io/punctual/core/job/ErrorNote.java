package io.punctual.core.job;

import java.nio.charset.StandardCharsets;

/**
 * What went wrong, as stored with a job: the instance, a line break, the message, in UTF-8.
 *
 * @param instance where it went wrong; empty if nowhere
 */
public record ErrorNote(String instance, String message) {

  /** Longest note, in bytes. */
  public static final int MAX_BYTES = 2048;

  /** Longest instance, in characters. */
  static final int MAX_INSTANCE = 256;

  public byte[] encode() {
    String where = instance.replace('\n', ' ');
    if (where.length() > MAX_INSTANCE) {
      where = where.substring(0, MAX_INSTANCE);
    }
    byte[] bytes = (where + "\n" + message).getBytes(StandardCharsets.UTF_8);
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

  public static ErrorNote decode(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    int line = text.indexOf('\n');
    return line < 0
        ? new ErrorNote("", text)
        : new ErrorNote(text.substring(0, line), text.substring(line + 1));
  }
}
