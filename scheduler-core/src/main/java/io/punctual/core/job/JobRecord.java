package io.punctual.core.job;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The stored fields of a job besides its state.
 *
 * @param maxAttempts how often it may be tried before it is dead
 * @param acceptedAt epoch ms at which it was stored
 * @param timeToRun ms that one attempt may take; 0 if the job did not say
 * @param origin where it comes from
 * @param tags in ascending order
 * @param content empty in lists
 */
public record JobRecord(
    String incarnation,
    int maxAttempts,
    long acceptedAt,
    long timeToRun,
    Origin origin,
    List<String> tags,
    byte[] content) {

  /**
   * Reads the content, with its trace among the headers.
   *
   * @throws CorruptContentException if it cannot be read
   */
  public JobContent read() {
    JobContent read = JobContentCodec.decode(content);
    return read.toBuilder().headers(origin.withTrace(read.headers())).build();
  }

  /** As {@link #read}; null if it cannot be read, or there is no record. */
  public static @Nullable JobContent readOrNull(@Nullable JobRecord record) {
    if (record == null) {
      return null;
    }
    try {
      return record.read();
    } catch (CorruptContentException e) {
      // The job's last error says so, once it was to be handed out.
      return null;
    }
  }
}
