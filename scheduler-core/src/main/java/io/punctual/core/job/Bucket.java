package io.punctual.core.job;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/**
 * One partition of a queue: one set of keys in Redis, one scanner.
 *
 * @param index 0 to {@value #MAX_BUCKETS} - 1
 */
public record Bucket(QueueName queue, int index) {

  /** Most buckets of one queue. */
  public static final int MAX_BUCKETS = 64;

  /** Checks the index. */
  public Bucket {
    if (index < 0 || index >= MAX_BUCKETS) {
      throw new IllegalArgumentException("bucket index must be 0 to 63, not " + index);
    }
  }

  /**
   * The bucket in which a job belongs: an id of 1 to 18 decimal digits by that number, any other by
   * the CRC-32 of its UTF-8 bytes, modulo the number of buckets. Stored jobs depend on it: it must
   * never change.
   */
  public static Bucket of(QueueName queue, String taskId, int buckets) {
    return new Bucket(queue, buckets == 1 ? 0 : (int) (number(taskId) % buckets));
  }

  private static long number(String taskId) {
    if (taskId.length() <= 18 && taskId.chars().allMatch(c -> c >= '0' && c <= '9')) {
      return Long.parseLong(taskId);
    }
    CRC32 crc = new CRC32();
    crc.update(taskId.getBytes(StandardCharsets.UTF_8));
    return crc.getValue();
  }

  @Override
  public String toString() {
    return queue + "#" + index;
  }
}
