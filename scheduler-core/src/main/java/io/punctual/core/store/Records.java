package io.punctual.core.store;

import io.punctual.core.job.JobState;
import io.punctual.core.job.Tries;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Reads the values that the scripts write; docs/architecture.md has their form. */
final class Records {

  private Records() {}

  static @Nullable JobRecord jobOrNull(byte[] bytes) {
    return bytes.length == 0 ? null : job(bytes);
  }

  static JobRecord job(byte[] bytes) {
    int end = lineEnd(bytes);
    String[] header = text(bytes, end).split(" ", 3);
    return new JobRecord(
        header[0],
        Integer.parseInt(header[1]),
        Long.parseLong(header[2]),
        Arrays.copyOfRange(bytes, end + 1, bytes.length));
  }

  static Tries tries(String text) {
    if (text.isEmpty()) {
      return Tries.NONE;
    }
    String[] parts = text.split(" ", 7);
    return new Tries(
        Integer.parseInt(parts[0]),
        Integer.parseInt(parts[1]),
        Integer.parseInt(parts[2]),
        Integer.parseInt(parts[3]),
        Integer.parseInt(parts[4]),
        parts[5].equals("1"),
        Long.parseLong(parts[6]));
  }

  /** Reads what lib/snapshot gives. */
  static JobSnapshot snapshot(long now, Reply reply) {
    return new JobSnapshot(
        now,
        reply.text(0),
        JobState.valueOf(reply.text(1).toUpperCase(Locale.ROOT)),
        reply.number(2),
        jobOrNull(reply.bytes(3)),
        tries(reply.text(4)),
        leaseOrNull(reply.text(5)),
        errorOrNull(reply.bytes(6)));
  }

  private static JobSnapshot.@Nullable LeaseInfo leaseOrNull(String text) {
    if (text.isEmpty()) {
      return null;
    }
    String[] parts = text.split(" ", 6);
    return new JobSnapshot.LeaseInfo(
        Integer.parseInt(parts[1]),
        parts[2].equals("1"),
        Long.parseLong(parts[3]),
        Long.parseLong(parts[4]),
        parts[5]);
  }

  private static JobSnapshot.@Nullable LastError errorOrNull(byte[] bytes) {
    if (bytes.length == 0) {
      return null;
    }
    int end = lineEnd(bytes);
    String[] header = text(bytes, end).split(" ", 3);
    return new JobSnapshot.LastError(
        Long.parseLong(header[0]),
        header[1],
        header[2],
        Arrays.copyOfRange(bytes, end + 1, bytes.length));
  }

  private static int lineEnd(byte[] bytes) {
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] == '\n') {
        return i;
      }
    }
    throw new IllegalStateException("a stored value has no header line");
  }

  private static String text(byte[] bytes, int end) {
    return new String(bytes, 0, end, StandardCharsets.UTF_8);
  }
}
