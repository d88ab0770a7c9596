package io.punctual.server.jobs;

import io.punctual.core.Operations.TagCursor;
import io.punctual.core.job.QueueName;
import io.punctual.core.store.query.Cursor;
import io.punctual.server.problem.ApiException;
import io.punctual.wire.Limits;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * A place in a search, as a cursor holds it: a queue, and what was seen last in it.
 *
 * @param number the last score, or the bucket; -1 for the beginning of the queue
 * @param taskId the last id; empty for the beginning of the bucket
 * @param begun the store's time when the search began, epoch ms; 0 where that plays no part
 */
record SearchPlace(QueueName queue, long number, String taskId, long begun) {

  private static final int PARTS = 6;

  static SearchPlace beginning(QueueName queue) {
    return new SearchPlace(queue, -1, "", 0);
  }

  static SearchPlace behind(QueueName queue, Cursor last) {
    return new SearchPlace(queue, last.score(), last.taskId(), 0);
  }

  static SearchPlace behind(QueueName queue, TagCursor last) {
    return new SearchPlace(queue, last.bucket(), last.taskId(), 0);
  }

  SearchPlace begunAt(long time) {
    return new SearchPlace(queue, number, taskId, time);
  }

  /** In a search by state; null at the beginning of the queue. */
  @Nullable Cursor cursor() {
    return number < 0 ? null : new Cursor(number, taskId);
  }

  /** In a search by tag; null at the beginning of the queue. */
  @Nullable TagCursor tagCursor() {
    return number < 0 ? null : new TagCursor((int) number, taskId);
  }

  /** As the cursor of the search with that fingerprint. */
  String text(String fingerprint) {
    String text =
        String.join(
            "\n",
            fingerprint,
            queue.application(),
            queue.taskType(),
            Long.toString(number),
            taskId,
            Long.toString(begun));
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Reads a cursor.
   *
   * @throws ApiException 400 if it is none of that search
   */
  static SearchPlace parse(String fingerprint, String cursor) {
    String[] parts;
    try {
      parts =
          new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8).split("\n", -1);
    } catch (IllegalArgumentException e) {
      throw foreign();
    }
    if (parts.length != PARTS
        || !parts[0].equals(fingerprint)
        || !Limits.isName(parts[1])
        || !Limits.isName(parts[2])
        || !parts[3].matches("-1|\\d{1,15}")
        || !parts[5].matches("\\d{1,15}")) {
      throw foreign();
    }
    return new SearchPlace(
        new QueueName(parts[1], parts[2]),
        Long.parseLong(parts[3]),
        parts[4],
        Long.parseLong(parts[5]));
  }

  private static ApiException foreign() {
    return ApiException.invalid(
        "cursor", "belongs to another search: take nextCursor of an answer to the same filter");
  }
}
