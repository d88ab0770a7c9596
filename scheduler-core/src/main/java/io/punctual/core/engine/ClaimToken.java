package io.punctual.core.engine;

import io.punctual.Limits;
import io.punctual.core.queue.QueueName;
import io.punctual.core.store.LeaseToken;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/**
 * The right to speak for one pulled job, and all that is needed to find it again: schedulers keep
 * nothing about those who pull. Who has the text can end the attempt; nobody can guess it.
 */
public record ClaimToken(QueueName queue, String taskId, String incarnation, LeaseToken lease) {

  private static final int MAX_TEXT = 1024;

  /** As one word of [A-Za-z0-9_-]. */
  public String text() {
    String all =
        String.join(
            "\n", queue.application(), queue.taskType(), taskId, incarnation, lease.value());
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(all.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Reads {@link #text} back.
   *
   * @throws IllegalArgumentException if it is no such text
   */
  public static ClaimToken parse(String text) {
    try {
      if (text.length() > MAX_TEXT) {
        throw new IllegalArgumentException("too long");
      }
      String all = new String(Base64.getUrlDecoder().decode(text), StandardCharsets.UTF_8);
      List<String> parts = List.of(all.split("\n", -1));
      if (parts.size() != 5
          || !parts.stream().limit(3).allMatch(part -> Limits.isName(part))
          || !parts.get(3).matches("[A-Za-z0-9._:-]{1,128}")) {
        throw new IllegalArgumentException("not of this form");
      }
      return new ClaimToken(
          new QueueName(parts.get(0), parts.get(1)),
          parts.get(2),
          parts.get(3),
          new LeaseToken(parts.get(4)));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "is no token of a claim; take it as it came with the job", e);
    }
  }
}
