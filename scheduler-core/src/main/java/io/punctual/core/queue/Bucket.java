package io.punctual.core.queue;

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

  @Override
  public String toString() {
    return queue + "#" + index;
  }
}
