package io.punctual.server.migrate;

import io.punctual.wire.Limits;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Ids and headers made of what an old job is: the same however often it is read. */
final class OldIds {

  private static final Pattern HEADER = Pattern.compile("[ -~]{1,200}");
  private static final int DIGEST = 16;

  private OldIds() {}

  /** Returns an id of a prefix and a digest of these bytes. */
  static String of(String prefix, byte[]... parts) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (byte[] part : parts) {
        digest.update(part);
      }
      return prefix + "-" + HexFormat.of().formatHex(digest.digest(), 0, DIGEST);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The same of texts, which are told apart. */
  static String of(String prefix, String... parts) {
    return of(prefix, String.join("\0", parts).getBytes(StandardCharsets.UTF_8));
  }

  /** Returns whether a text can be the id of a job and of a schedule. */
  static boolean isId(String text) {
    return Limits.isName(text) && text.length() <= Limits.MAX_SCHEDULE_ID;
  }

  /**
   * Returns headers of names and values, without those that no header can have.
   *
   * @param pairs a name and a value, and so on
   */
  static Map<String, String> headers(String... pairs) {
    Map<String, String> headers = new TreeMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      if (HEADER.matcher(pairs[i + 1]).matches()) {
        headers.put(pairs[i], pairs[i + 1]);
      }
    }
    return headers;
  }
}
