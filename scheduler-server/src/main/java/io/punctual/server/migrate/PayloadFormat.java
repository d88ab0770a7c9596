package io.punctual.server.migrate;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * How payloads and times are read.
 *
 * @param base64 whether bytes become text as Base64; else they must be UTF-8
 * @param seconds whether the scores of a sorted set are seconds; else they are ms
 */
record PayloadFormat(boolean base64, boolean seconds) {

  /** How an object that Java serialized begins: the magic number and the version. */
  private static final int SERIALIZED = 0xACED0005;

  private static final int TC_STRING = 0x74;

  /** Returns the options. */
  String name() {
    return (base64 ? "base64" : "text") + (seconds ? " seconds" : "");
  }

  /** Returns bytes as text. */
  String text(byte[] bytes) throws UnreadableException {
    if (base64) {
      return Base64.getEncoder().encodeToString(bytes);
    }
    if (isSerialized(bytes)) {
      return string(bytes);
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new UnreadableException(
          "is no text but bytes of a codec: add --base64, and let the worker decode them");
    }
  }

  /** Returns whether these bytes are an object that Java serialized. */
  static boolean isSerialized(byte[] bytes) {
    return bytes.length > Integer.BYTES && ByteBuffer.wrap(bytes).getInt() == SERIALIZED;
  }

  /** Reads a lone string, which needs no class. Other objects are never made of such bytes. */
  private static String string(byte[] bytes) throws UnreadableException {
    if (bytes[Integer.BYTES] == TC_STRING) {
      int head = Integer.BYTES + 1;
      try (DataInputStream in =
          new DataInputStream(new ByteArrayInputStream(bytes, head, bytes.length - head))) {
        String text = in.readUTF();
        if (in.available() == 0) {
          return text;
        }
      } catch (IOException e) {
        // It is no lone string.
      }
    }
    throw new UnreadableException(
        "is an object that Java serialized, which only the application can read: add --base64, and"
            + " let the worker deserialize it with its own classes");
  }
}
