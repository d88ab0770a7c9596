package io.punctual.core.job;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Texts of bytes that must be UTF-8. */
public final class Utf8 {

  private Utf8() {}

  /**
   * Reads a text.
   *
   * @throws CharacterCodingException if it is malformed
   */
  public static String text(byte[] bytes, int offset, int length) throws CharacterCodingException {
    String text = new String(bytes, offset, length, StandardCharsets.UTF_8);
    // What is malformed becomes that character; it may also be one of the text. A decoder, which
    // knows, takes several times as long.
    return text.indexOf('\uFFFD') < 0
        ? text
        : StandardCharsets.UTF_8
            .newDecoder()
            .decode(ByteBuffer.wrap(bytes, offset, length))
            .toString();
  }
}
