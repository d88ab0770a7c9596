package io.punctual.server.dispatch.callback;

import io.punctual.wire.CallbackSignature;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.UUID;
import org.apache.hc.core5.http.HttpRequest;
import org.jspecify.annotations.Nullable;

/** Signs one request and verifies its answer. */
final class CallbackSigner {

  private final List<CallbackSignature.Key> keys;
  private final boolean answerIsSigned;
  // Ours, never the user's task id: what is signed could be read in two ways if it held a full
  // stop. Another one each time, so that a worker can refuse what it has seen.
  private final String id;
  private final String timestamp;

  /**
   * @param lasts for how long a worker may begin what is signed
   */
  CallbackSigner(CallbackKeys keys, String application, InstantSource clock, Duration lasts) {
    Instant now = clock.instant();
    this.keys = keys.of(application);
    this.answerIsSigned = keys.answersAreSigned(application);
    this.id =
        CallbackSignature.requestId(
            "msg_" + UUID.randomUUID().toString().replace("-", ""), now.plus(lasts));
    this.timestamp = Long.toString(now.getEpochSecond());
  }

  /** Signs a request, where there are keys. */
  void sign(HttpRequest request, byte[] content) {
    if (!keys.isEmpty()) {
      request.setHeader(CallbackSignature.ID, id);
      request.setHeader(CallbackSignature.TIMESTAMP, timestamp);
      request.setHeader(
          CallbackSignature.SIGNATURE, CallbackSignature.sign(keys, id, timestamp, content));
    }
  }

  /** Whether an answer counts only with {@link #isOnAnswer}. */
  boolean answerIsSigned() {
    return answerIsSigned;
  }

  /** Returns the random text of this ping, which the answer signs in the single protocol. */
  String ping() {
    return id;
  }

  /** Whether this is a right signature of the answer to {@link #ping} from that address. */
  boolean isOnPing(String signature, URI address) {
    return CallbackSignature.verify(
        keys,
        signature,
        CallbackSignature.PING_ID,
        CallbackSignature.PING_TIMESTAMP,
        CallbackSignature.pingContent(id, address.toString()).getBytes(StandardCharsets.UTF_8));
  }

  /** Whether this is a right signature of that part of an answer to this request. */
  boolean isOnAnswer(@Nullable String signature, byte[] content) {
    return signature != null
        && CallbackSignature.verify(
            keys, signature, CallbackSignature.answerId(id), timestamp, content);
  }
}
