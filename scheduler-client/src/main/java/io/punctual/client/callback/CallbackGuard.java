package io.punctual.client.callback;

import io.punctual.wire.CallbackRefusal;
import io.punctual.wire.CallbackSignature;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Lets in who has the key of this application: signatures as in Standard Webhooks, over the bytes
 * that came, none older than five minutes, none after its end, none twice.
 */
public final class CallbackGuard {

  // As many calls as a busy instance gets in the time in which a signature is good.
  private static final int MAX_REMEMBERED = 200_000;
  private static final Pattern ID = Pattern.compile("[A-Za-z0-9_-]{1,64}");
  private static final Pattern SECONDS = Pattern.compile("\\d{1,12}");
  private static final Set<String> HERE = Set.of("localhost", "127.0.0.1", "[::1]");

  private static final String[] OF_PROXIES = {
    "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Via"
  };

  private final List<CallbackSignature.Key> keys;
  private final boolean acceptUnsigned;
  private final InstantSource clock;
  // By id, with the moment from which on its signature is too old; in the order in which they came.
  private final Map<String, Long> seen = new LinkedHashMap<>();

  /**
   * @param keys of this application, newest first
   * @param acceptUnsigned whether calls from this machine are taken without where there are no keys
   */
  public CallbackGuard(
      List<CallbackSignature.Key> keys, boolean acceptUnsigned, InstantSource clock) {
    this.keys = List.copyOf(keys);
    this.acceptUnsigned = acceptUnsigned;
    this.clock = clock;
  }

  /**
   * Why a call is not let in.
   *
   * @param text for people
   */
  record Refusal(CallbackRefusal why, String text) {

    /** The HTTP status of the answer: with 421, another instance may run the jobs. */
    int status() {
      return why == CallbackRefusal.LATE ? 421 : 401;
    }
  }

  /** The time by which signatures are looked at. */
  Instant now() {
    return clock.instant();
  }

  /**
   * What can be said against a call before its body is read: strangers shall cost no memory.
   *
   * @return why it is not let in; null if that depends on the body
   */
  @Nullable Refusal refusal(CallbackExchange request) {
    if (keys.isEmpty()) {
      return unsigned(request);
    }
    String id = request.header(CallbackSignature.ID);
    String timestamp = request.header(CallbackSignature.TIMESTAMP);
    String signatures = request.header(CallbackSignature.SIGNATURE);
    if (id == null || timestamp == null || signatures == null) {
      return new Refusal(
          CallbackRefusal.UNSIGNED,
          "the call is not signed; does the scheduler have punctual.security.signing-keys?");
    } else if (!ID.matcher(id).matches() || !SECONDS.matcher(timestamp).matches()) {
      return new Refusal(
          CallbackRefusal.UNSIGNED,
          "the call's " + CallbackSignature.ID + " or its timestamp is none of a scheduler");
    } else if (!CallbackSignature.mayBeRight(signatures)) {
      return wrongSignature();
    }
    long signedAt = Long.parseLong(timestamp);
    long now = clock.instant().getEpochSecond();
    if (Math.abs(now - signedAt) > CallbackSignature.TOLERANCE_SECONDS) {
      return new Refusal(
          CallbackRefusal.CLOCK,
          "the call was signed at "
              + signedAt
              + ", and the clock here is at "
              + now
              + ": more than "
              + CallbackSignature.TOLERANCE_SECONDS
              + " s apart");
    }
    Instant end = CallbackSignature.end(id);
    if (end != null && clock.instant().isAfter(end.plus(CallbackSignature.END_TOLERANCE))) {
      return new Refusal(
          CallbackRefusal.LATE,
          "the call could be run until "
              + end
              + ", and the clock here is at "
              + clock.instant()
              + ": it was delayed on its way, or the clock here is ahead of the scheduler's");
    }
    synchronized (seen) {
      return seen.containsKey(id) ? repeated() : null;
    }
  }

  /**
   * Whether a call is let in.
   *
   * @return why not; null if it is
   */
  @Nullable Refusal refusal(CallbackExchange request, byte[] body) {
    // Once more: a body takes time, in which signatures age and others come.
    Refusal refusal = refusal(request);
    if (refusal != null || keys.isEmpty()) {
      return refusal;
    }
    String id = signed(request, CallbackSignature.ID);
    String timestamp = signed(request, CallbackSignature.TIMESTAMP);
    String signatures = signed(request, CallbackSignature.SIGNATURE);
    if (!CallbackSignature.verify(keys, signatures, id, timestamp, body)) {
      return wrongSignature();
    }
    return isNew(id, clock.instant().getEpochSecond(), Long.parseLong(timestamp))
        ? null
        : repeated();
  }

  /** Returns a header that each signed call has. */
  private static String signed(CallbackExchange request, String header) {
    return Objects.requireNonNull(request.header(header), header);
  }

  private static Refusal wrongSignature() {
    return new Refusal(
        CallbackRefusal.WRONG_SIGNATURE,
        "the signature is wrong: the scheduler's key for this application is none of"
            + " punctual.callback.secrets, or the call was changed on its way");
  }

  private static Refusal repeated() {
    return new Refusal(CallbackRefusal.REPEATED, "the call was here before");
  }

  private @Nullable Refusal unsigned(CallbackExchange request) {
    if (!acceptUnsigned) {
      return new Refusal(
          CallbackRefusal.NO_KEY,
          "punctual.callback.secrets is not set: all callers are refused. Set it to what the"
              + " scheduler's command credentials prints, or, on your own machine only, set"
              + " punctual.callback.accept-unsigned=true");
    }
    // Behind a proxy every caller seems to be on this machine. A page in a browser of this machine
    // may reach it by the page's own name (DNS rebinding).
    if (request.forwarded()
        || isForwarded(request::header)
        || !isHere(request.remoteAddress())
        || !HERE.contains(request.serverName())) {
      return new Refusal(
          CallbackRefusal.NOT_THIS_MACHINE,
          "punctual.callback.accept-unsigned is for calls from the same machine only, by its"
              + " address 127.0.0.1: set eureka.instance.hostname=127.0.0.1, or"
              + " punctual.callback.secrets");
    }
    // Browsers send JSON to another site only if that site agrees, which this one never does.
    return has(request, "Origin", "Sec-Fetch-Site") || !isJson(request)
        ? new Refusal(
            CallbackRefusal.UNSIGNED,
            "punctual.callback.accept-unsigned is for schedulers, which send"
                + " application/json; web pages may not run jobs")
        : null;
  }

  /**
   * Returns whether a request has a header that proxies add.
   *
   * @param header returns the header of a name; null if there is none
   */
  public static boolean isForwarded(Function<String, @Nullable String> header) {
    return Arrays.stream(OF_PROXIES).anyMatch(name -> header.apply(name) != null);
  }

  private static boolean has(CallbackExchange request, String... headers) {
    return Arrays.stream(headers).anyMatch(header -> request.header(header) != null);
  }

  private static boolean isJson(CallbackExchange request) {
    String type = request.header("Content-Type");
    return type != null
        && type.replaceFirst(";.*", "").strip().equalsIgnoreCase("application/json");
  }

  private static boolean isHere(String address) {
    try {
      // No text at all would be this machine, too.
      return !address.isEmpty() && InetAddress.getByName(address).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  private boolean isNew(String id, long now, long signedAt) {
    synchronized (seen) {
      var oldest = seen.entrySet().iterator();
      while (oldest.hasNext()) {
        // Those that were signed ahead of the clock stay a little longer than they must.
        if (oldest.next().getValue() >= now && seen.size() < MAX_REMEMBERED) {
          break;
        }
        oldest.remove();
      }
      return seen.putIfAbsent(id, signedAt + 2 * CallbackSignature.TOLERANCE_SECONDS) == null;
    }
  }

  /** Signs the answer to a call; null where nothing is signed. */
  @Nullable AnswerSeal seal(CallbackExchange request) {
    return keys.isEmpty()
        ? null
        : new AnswerSeal(
            // All of them: the scheduler may not have the newest yet.
            keys,
            CallbackSignature.answerId(signed(request, CallbackSignature.ID)),
            signed(request, CallbackSignature.TIMESTAMP));
  }

  /** Signs the lines of one answer, part by part. */
  static final class AnswerSeal {

    private final List<CallbackSignature.Key> keys;
    private final String id;
    private final String timestamp;
    private int frame;

    private AnswerSeal(List<CallbackSignature.Key> keys, String id, String timestamp) {
      this.keys = keys;
      this.id = id;
      this.timestamp = timestamp;
    }

    /** The line that signs these. To be called for each part once, in order. */
    String line(String lines) {
      byte[] content = CallbackSignature.frame(frame++, lines).getBytes(StandardCharsets.UTF_8);
      return CallbackSignature.line(CallbackSignature.sign(keys, id, timestamp, content));
    }
  }
}
