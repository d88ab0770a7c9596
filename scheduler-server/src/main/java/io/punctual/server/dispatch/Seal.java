package io.punctual.server.dispatch;

import io.punctual.wire.CallbackSignature;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The signatures of one request and of its answer. */
final class Seal {

  private final List<CallbackSignature.Key> keys;
  private final boolean answerIsSigned;
  // Ours, never the user's task id: what is signed could be read in two ways if it held a full
  // stop. Another one each time, so that a worker can refuse what it has seen.
  private final String id = "msg_" + UUID.randomUUID().toString().replace("-", "");
  private final String timestamp;

  Seal(CallbackKeys keys, String application, InstantSource clock) {
    this.keys = keys.of(application);
    this.answerIsSigned = keys.answersAreSigned(application);
    this.timestamp = Long.toString(clock.instant().getEpochSecond());
  }

  /** Signs a request. */
  void sign(HttpRequest.Builder request, byte[] body) {
    if (!keys.isEmpty()) {
      request
          .header(CallbackSignature.ID, id)
          .header(CallbackSignature.TIMESTAMP, timestamp)
          .header(CallbackSignature.SIGNATURE, CallbackSignature.sign(keys, id, timestamp, body));
    }
  }

  /** Whether an answer counts only with {@link #isOnAnswer}. */
  boolean answerIsSigned() {
    return answerIsSigned;
  }

  /** Whether this is a right signature of that part of an answer to this request. */
  boolean isOnAnswer(@Nullable String signature, String content) {
    return signature != null
        && CallbackSignature.verify(
            keys,
            signature,
            CallbackSignature.answerId(id),
            timestamp,
            content.getBytes(StandardCharsets.UTF_8));
  }
}
