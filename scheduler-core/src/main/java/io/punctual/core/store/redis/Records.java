package io.punctual.core.store.redis;

import io.punctual.conflict.OnConflict;
import io.punctual.core.job.AttemptCounts;
import io.punctual.core.job.Ending;
import io.punctual.core.job.ErrorNote;
import io.punctual.core.job.JobRecord;
import io.punctual.core.job.JobState;
import io.punctual.core.job.JobVersion;
import io.punctual.core.job.LeaseToken;
import io.punctual.core.job.Origin;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.core.store.query.JobView;
import io.punctual.core.store.redis.script.Keys;
import io.punctual.core.store.redis.script.Reply;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the values that the scripts write; docs/redis-keys.md has their form. A value that is not
 * of its form counts as absent, as in the scripts: people must be able to look at what is broken.
 */
final class Records {

  // Six bytes of a time, whose first is at most 3, two of attempts.
  private static final int NUMBERS = 8;
  // Behind them.
  private static final Pattern JOB =
      Pattern.compile("([A-Za-z0-9._:-]+) (\\d{1,18}) (\\S+) (\\S+)((?: .*)?)");
  private static final Pattern TRIES =
      Pattern.compile(
          "(\\d{1,9}) (\\d{1,9}) (\\d{1,9}) (\\d{1,9}) (\\d{1,9}) ([01]) (\\d{1,18}) (\\d{1,18})(?: (\\d{1,18}))?");
  private static final Pattern LEASE =
      Pattern.compile(
          "\\S+ ([!-~]{1,64}) (\\d{1,9}) ([01-]) (\\d{1,18}) (\\d{1,18}) (\\d{1,18})"
              + " ([^\\s\\x7f]+)(?:\\x7f\\S+)?( cancelling)?");
  private static final Pattern FAILURE =
      Pattern.compile("(\\d{1,18}) (\\S+) (\\S+) (\\d{1,9}) (\\d{1,18}) (\\d{1,8})");

  private static final Pattern LIMIT = Pattern.compile("[1-9]\\d{0,17}");
  private static final Pattern RATE = Pattern.compile("([1-9]\\d{0,17}) ([1-9]\\d{0,17})");
  private static final String NONE = "-";

  private Records() {}

  static @Nullable JobRecord jobOrNull(byte[] bytes) {
    int end = lineEnd(NUMBERS, bytes);
    if (end >= bytes.length || bytes[0] < 0 || bytes[0] > 3) {
      return null;
    }
    ByteBuffer numbers = ByteBuffer.wrap(bytes);
    long acceptedAt = numbers.getLong(0) >>> 16;
    short maxAttempts = numbers.getShort(6);
    String header = text(NUMBERS, end, bytes);
    if (isName(header)) {
      return new JobRecord(
          header, maxAttempts, acceptedAt, 0, Origin.UNKNOWN, List.of(), behind(end, bytes));
    }
    Matcher parts = JOB.matcher(header);
    return parts.matches()
        ? new JobRecord(
            parts.group(1),
            maxAttempts,
            acceptedAt,
            Long.parseLong(parts.group(2)),
            new Origin(fieldOrNull(parts.group(3)), fieldOrNull(parts.group(4))),
            Arrays.stream(parts.group(5).split(" +")).filter(tag -> !tag.isEmpty()).toList(),
            behind(end, bytes))
        : null;
  }

  private static boolean isName(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean alphanumeric =
          (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!alphanumeric && "._:-".indexOf(c) < 0) {
        return false;
      }
    }
    return !text.isEmpty();
  }

  /** A record as scripts take it: they put before it when the job was accepted. */
  static byte[] record(
      String incarnation,
      int maxAttempts,
      long timeToRun,
      Origin origin,
      List<String> tags,
      byte[] content) {
    String header =
        timeToRun == 0 && origin.equals(Origin.UNKNOWN) && tags.isEmpty()
            ? incarnation
            : incarnation
                + " "
                + timeToRun
                + " "
                + field(origin.trace())
                + " "
                + field(origin.submitter())
                + tags(tags);
    byte[] text = Keys.bytes(header);
    return ByteBuffer.allocate(2 + text.length + 1 + content.length)
        .putShort((short) maxAttempts)
        .put(text)
        .put((byte) '\n')
        .put(content)
        .array();
  }

  /** What an ack says of a job: the hash of its content, how it ended if known, and its tags. */
  static String mark(JobRecord record, @Nullable Ending ending) {
    try {
      byte[] sha1 = MessageDigest.getInstance("SHA-1").digest(record.content());
      return HexFormat.of().formatHex(sha1, 0, 10)
          + (ending == null ? "" : "," + ending.text())
          + tags(record.tags());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** For a record that the script has found sound. */
  static JobRecord job(byte[] bytes) {
    return Objects.requireNonNull(jobOrNull(bytes), "claim.lua lets no broken record pass");
  }

  static AttemptCounts tries(String text) {
    if (text.isEmpty()) {
      return AttemptCounts.NONE;
    }
    Matcher parts = TRIES.matcher(text);
    return parts.matches()
        ? new AttemptCounts(
            Integer.parseInt(parts.group(1)),
            Integer.parseInt(parts.group(2)),
            Integer.parseInt(parts.group(3)),
            Integer.parseInt(parts.group(4)),
            Integer.parseInt(parts.group(5)),
            parts.group(6).equals("1"),
            Long.parseLong(parts.group(7)),
            Long.parseLong(parts.group(8)),
            parts.group(9) == null ? 0 : Long.parseLong(parts.group(9)))
        : AttemptCounts.NONE;
  }

  /** Reads what lib/snapshot gives. */
  static JobView view(long now, QueueName queue, Reply reply, @Nullable Long successorDue) {
    JobState state = JobState.valueOf(reply.text(1).toUpperCase(Locale.ROOT));
    return new JobView(
        now,
        queue,
        reply.text(0),
        state,
        reply.number(2),
        jobOrNull(reply.bytes(3)),
        tries(reply.text(4)),
        leaseOrNull(reply.text(5)),
        failures(reply.bytes(6)),
        successorDue,
        reply.size() > 7 ? Ending.parse(state == JobState.FINISHED, reply.text(7)) : null,
        reply.size() > 8 ? reply.numberOrNull(8) : null);
  }

  private static JobView.@Nullable LeaseInfo leaseOrNull(String text) {
    Matcher parts = LEASE.matcher(text);
    return parts.matches()
        ? new JobView.LeaseInfo(
            new LeaseToken(parts.group(1)),
            Integer.parseInt(parts.group(2)),
            !parts.group(3).equals("0"),
            Long.parseLong(parts.group(4)),
            Long.parseLong(parts.group(5)),
            Long.parseLong(parts.group(6)),
            parts.group(7),
            parts.group(8) != null)
        : null;
  }

  private static List<JobView.Failure> failures(byte[] bytes) {
    List<JobView.Failure> failures = new ArrayList<>();
    byte[] rest = bytes;
    while (rest.length > 0) {
      int end = lineEnd(0, rest);
      Matcher header = FAILURE.matcher(text(0, end, rest));
      if (!header.matches() || end + 1 + Integer.parseInt(header.group(6)) > rest.length) {
        break;
      }
      int stop = end + 1 + Integer.parseInt(header.group(6));
      failures.add(
          new JobView.Failure(
              Long.parseLong(header.group(1)),
              header.group(2),
              header.group(3),
              Integer.parseInt(header.group(4)),
              Long.parseLong(header.group(5)),
              ErrorNote.decode(Arrays.copyOfRange(rest, end + 1, stop))));
      rest = Arrays.copyOfRange(rest, stop, rest.length);
    }
    return List.copyOf(failures);
  }

  /** As scripts answer it; null where the number is 0. */
  static @Nullable JobVersion version(long number, String incarnation) {
    return number == 0 ? null : new JobVersion(incarnation, number);
  }

  /** As scripts take a version that somebody has seen; empty for any. */
  static String version(@Nullable JobVersion seen) {
    return seen == null ? "" : seen.incarnation() + " " + seen.number();
  }

  /** As scripts take what to do if a job is there. */
  static String rule(OnConflict onConflict) {
    Duration atMost = onConflict.atMost();
    return switch (onConflict.rule()) {
          case REFUSE -> "0";
          case REPLACE -> "1";
          case DEBOUNCE_LAST -> "d";
          case DEBOUNCE_FIRST -> "f";
          case QUEUE_ONE -> "q";
          case DROP -> "x";
          case REPLACE_QUEUED -> "r";
        }
        + (atMost == null ? "" : Long.toString(atMost.toMillis()));
  }

  /** As scripts and records have what may be absent. */
  private static String field(@Nullable String text) {
    return text == null ? NONE : text;
  }

  private static @Nullable String fieldOrNull(@Nullable String text) {
    return NONE.equals(text) ? null : text;
  }

  /** As scripts take tags: each behind a space. */
  static String tags(List<String> tags) {
    return tags.isEmpty() ? "" : " " + String.join(" ", tags);
  }

  /**
   * The limits of a bucket. As in claim.lua, a text that is not of its form counts as none; what is
   * greater than can be set is shown as the greatest that can.
   */
  static Throttle throttle(String concurrency, String rate) {
    Matcher parts = RATE.matcher(rate);
    return new Throttle(
        LIMIT.matcher(concurrency).matches() ? Integer.valueOf(most(concurrency)) : null,
        parts.matches()
            ? new Throttle.Rate(
                most(parts.group(1)),
                Duration.ofMillis(
                    Math.min(
                        Long.parseLong(parts.group(2)), Throttle.Rate.LONGEST_OF_PART.toMillis())))
            : null);
  }

  private static int most(String number) {
    return (int) Math.min(Long.parseLong(number), Throttle.MOST);
  }

  // Where the line ends; the length if there is no line break.
  private static int lineEnd(int start, byte[] bytes) {
    int end = start;
    while (end < bytes.length && bytes[end] != '\n') {
      end++;
    }
    return end;
  }

  private static String text(int start, int end, byte[] bytes) {
    return end < bytes.length ? new String(bytes, start, end - start, StandardCharsets.UTF_8) : "";
  }

  private static byte[] behind(int end, byte[] bytes) {
    return Arrays.copyOfRange(bytes, end + 1, bytes.length);
  }
}
