package io.punctual.wire;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Signatures of callbacks and of their answers, as in the Standard Webhooks specification 1.0:
 * HMAC-SHA256 over {@code id.timestamp.content}, written as {@code v1,} and base64.
 *
 * <p>It signs raw bytes, so it uses no library: libraries for this specification sign texts, and
 * would accept different bytes as the same if they are not UTF-8.
 */
public final class CallbackSignature {

  /**
   * Request header: the scheduler's own id of this request, without a full stop. It says until when
   * the request may be run ({@link #end}).
   */
  public static final String ID = "webhook-id";

  /** Request header: epoch seconds of the signature. */
  public static final String TIMESTAMP = "webhook-timestamp";

  /** Request header: signatures, separated by spaces; one that is right is enough. */
  public static final String SIGNATURE = "webhook-signature";

  /**
   * Response header, single protocol: a signature whose content is the status, made with the
   * request's id and timestamp.
   */
  public static final String ANSWER = "punctual-signature";

  /**
   * Request header of a ping, single protocol: a random text without spaces. The answer has {@link
   * #ANSWER}: a signature with the id {@link #PING_ID} and the timestamp {@link #PING_TIMESTAMP},
   * whose content is {@link #pingContent}.
   */
  public static final String PING = "Punctual-Ping";

  /** The id of the signature that answers a ping in the single protocol. */
  public static final String PING_ID = "ping";

  /**
   * The timestamp of the signature that answers a ping in the single protocol. Pings are not
   * signed, so anyone may ask for such a signature: it must never be good for a call.
   */
  public static final String PING_TIMESTAMP = "1";

  /** How far a timestamp may be off, in seconds. */
  public static final long TOLERANCE_SECONDS = 300;

  /** How far the worker's clock may be ahead of the scheduler's when a request ends. */
  public static final Duration END_TOLERANCE = Duration.ofSeconds(30);

  private static final String SECRET_PREFIX = "whsec_";
  private static final String LINE_START = "{\"signature\":\"";
  private static final String LINE_END = "\"}";
  private static final String VERSION = "v1,";
  private static final Pattern ENDING = Pattern.compile(".+_(\\d{13})");
  private static final Pattern FORM = Pattern.compile(VERSION + "[A-Za-z0-9+/]{43}=");
  private static final int MIN_KEY_BYTES = 24;
  private static final int MAX_SIGNATURES = 8;

  private CallbackSignature() {}

  /** A key that scheduler and application share. */
  public static final class Key {

    private final SecretKeySpec key;

    private Key(byte[] bytes) {
      this.key = new SecretKeySpec(bytes, "HmacSHA256");
    }

    /**
     * Reads a key as applications are given it.
     *
     * @param text {@code whsec_} and base64 of 24 bytes or more
     * @throws IllegalArgumentException saying what is wrong, without the text
     */
    public static Key parse(String text) {
      String base64 = text.startsWith(SECRET_PREFIX) ? text.substring(6) : text;
      byte[] bytes;
      try {
        bytes = Base64.getDecoder().decode(base64);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException("must be whsec_ and base64", e);
      }
      if (bytes.length < MIN_KEY_BYTES) {
        throw new IllegalArgumentException("must hold " + MIN_KEY_BYTES + " bytes or more");
      }
      return new Key(bytes);
    }

    /**
     * The key of one application: from it nobody can tell the secret, or another's key.
     *
     * @param application compares without case
     */
    public static Key derived(String secret, String application) {
      Key master = new Key(secret.getBytes(StandardCharsets.UTF_8));
      return new Key(
          mac(
              master,
              ("punctual callback key for " + application.toLowerCase(Locale.ROOT))
                  .getBytes(StandardCharsets.UTF_8)));
    }

    /** The text that {@link #parse} reads. A secret: for the application's configuration only. */
    public String reveal() {
      return SECRET_PREFIX + Base64.getEncoder().encodeToString(key.getEncoded());
    }

    /** Tells nothing. */
    @Override
    public String toString() {
      return "Key[...]";
    }
  }

  /**
   * Makes the id of a request. Ids are signed, and so is the end of the request in it.
   *
   * @param unique of letters, digits and {@code _}, for this request alone
   * @param end until when a worker may run it, by the scheduler's clock
   */
  public static String requestId(String unique, Instant end) {
    return unique + "_" + end.toEpochMilli();
  }

  /** Returns until when a request may be run; null if its id says nothing of it. */
  public static @Nullable Instant end(String requestId) {
    Matcher matcher = ENDING.matcher(requestId);
    return matcher.matches() ? Instant.ofEpochMilli(Long.parseLong(matcher.group(1))) : null;
  }

  /**
   * The id with which the answer to a request is signed. Not the request's own: its signature must
   * not pass for that of an answer, whatever a job may hold.
   */
  public static String answerId(String requestId) {
    return requestId + "_answer";
  }

  /**
   * Returns what is signed of an answer to a ping in the single protocol: a digest in hexadecimal.
   * So the one who asks chooses no part of what is signed, and no full stop in it can move the
   * borders between id, timestamp and content.
   *
   * @param ping the value of {@link #PING}
   * @param address the URL that the instance registered, with its port. Not one that the request
   *     names: another program could pass on a ping that it got itself
   */
  public static String pingContent(String ping, String address) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256")
                  .digest((ping + " " + address).getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * What is signed of an answer in lines.
   *
   * @param frame how many signatures came before in this answer
   * @param lines those since the last signature, each with a line feed at its end
   */
  public static String frame(int frame, String lines) {
    return frame + "\n" + lines;
  }

  /** The line that signs those before it. */
  public static String line(String signature) {
    return LINE_START + signature + LINE_END;
  }

  /** The signature of such a line; null if it is none. */
  public static @Nullable String ofLine(String line) {
    return line.startsWith(LINE_START) && line.endsWith(LINE_END)
        ? line.substring(LINE_START.length(), line.length() - LINE_END.length())
        : null;
  }

  /**
   * Signs with every key.
   *
   * @param timestamp epoch seconds
   */
  public static String sign(List<Key> keys, String id, String timestamp, byte[] content) {
    byte[] signed = signed(id, timestamp, content);
    return keys.stream()
        .map(key -> VERSION + Base64.getEncoder().encodeToString(mac(key, signed)))
        .collect(Collectors.joining(" "));
  }

  /**
   * Whether one of the signatures has the form of one, before there is anything to verify it by.
   */
  public static boolean mayBeRight(String signatures) {
    for (String signature : some(signatures)) {
      if (FORM.matcher(signature).matches()) {
        return true;
      }
    }
    return false;
  }

  private static List<String> some(String signatures) {
    String[] given = signatures.split(" ", MAX_SIGNATURES + 1);
    return Arrays.asList(given).subList(0, Math.min(given.length, MAX_SIGNATURES));
  }

  /** Whether one of the signatures is that of one of the keys. Takes the same time for all. */
  public static boolean verify(
      List<Key> keys, String signatures, String id, String timestamp, byte[] content) {
    byte[] signed = signed(id, timestamp, content);
    List<byte[]> expected =
        keys.stream()
            .map(key -> VERSION + Base64.getEncoder().encodeToString(mac(key, signed)))
            .map(text -> text.getBytes(StandardCharsets.UTF_8))
            .toList();
    boolean right = false;
    for (String given : some(signatures)) {
      byte[] bytes = given.getBytes(StandardCharsets.UTF_8);
      for (byte[] signature : expected) {
        right |= MessageDigest.isEqual(signature, bytes);
      }
    }
    return right;
  }

  private static byte[] signed(String id, String timestamp, byte[] content) {
    byte[] head = (id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(head.length + content.length).put(head).put(content).array();
  }

  private static byte[] mac(Key key, byte[] content) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(key.key);
      return mac.doFinal(content);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has HmacSHA256", e);
    }
  }
}
