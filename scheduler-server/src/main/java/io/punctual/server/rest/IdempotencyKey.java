package io.punctual.server.rest;

import io.punctual.ErrorCode;
import io.punctual.core.job.QueueName;
import io.punctual.server.jobs.Submitted;
import io.punctual.server.problem.ApiException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The header of that name (draft-ietf-httpapi-idempotency-key-header). It names the job where the
 * client does not: the task id is made of it, so that a repeated submit meets the job that the
 * first one left, for as long as that is known.
 */
final class IdempotencyKey {

  // A text in quotes, as the draft wants it; many clients send it bare.
  private static final Pattern FORM =
      Pattern.compile("\"((?:[ !#-\\[\\]-~]|\\\\[\"\\\\]){1,255})\"|([!#-~]{1,255})");

  private final @Nullable String key;

  private IdempotencyKey(@Nullable String key) {
    this.key = key;
  }

  static IdempotencyKey of(@Nullable String header) {
    if (header == null) {
      return new IdempotencyKey(null);
    }
    Matcher form = FORM.matcher(header);
    if (!form.matches()) {
      throw ApiException.invalid(
          "Idempotency-Key", "must be 1 to 255 printable ASCII characters, in quotes");
    }
    return new IdempotencyKey(form.group(1) != null ? form.group(1) : form.group(2));
  }

  /** Whether the call has one. */
  boolean isGiven() {
    return key != null;
  }

  /** The id of a job that came without one. */
  String taskId(QueueName queue) {
    if (key == null) {
      return UUID.randomUUID().toString();
    }
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256")
              .digest((queue + " " + key).getBytes(StandardCharsets.UTF_8));
      return "key-" + Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Refuses a key that came with another job before. */
  void check(Submitted submitted) {
    if (key != null
        && submitted instanceof Submitted.Conflict conflict
        && !conflict.job().named()) {
      throw ApiException.of(
          ErrorCode.IDEMPOTENCY_KEY_REUSED,
          "this Idempotency-Key came with another job before"
              + (conflict.differing().isEmpty()
                  ? ""
                  : "; it differs in " + String.join(", ", conflict.differing()))
              + ". Send the same job again, or take a new key");
    }
  }
}
