package io.punctual.core.schedule;

import io.punctual.core.job.CorruptContentException;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobContentCodec;
import io.punctual.schedule.Fold;
import io.punctual.schedule.Gap;
import io.punctual.schedule.Missed;
import io.punctual.schedule.WhileRunning;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A definition as bytes: a line of its own values, divided by tabs, and then the content of its
 * jobs. Equal definitions are equal bytes.
 */
public final class ScheduleCodec {

  private static final String VERSION = "1";
  private static final String NONE = "-";
  private static final int VALUES = 14;
  private static final String CALENDAR = "@";

  private ScheduleCodec() {}

  /** Writes a definition. */
  public static byte[] encode(ScheduleDefinition definition) {
    Recurrence recurrence = definition.recurrence();
    String line =
        String.join(
            "\t",
            VERSION,
            text(recurrence.cron(), Cron::toString),
            text(recurrence.every(), ScheduleCodec::millis),
            Long.toString(recurrence.anchor().toEpochMilli()),
            recurrence.zone().getId(),
            recurrence.gap().name(),
            recurrence.fold().name(),
            text(recurrence.from(), ScheduleCodec::millis),
            text(recurrence.until(), ScheduleCodec::millis),
            exclude(definition),
            definition.missed().name(),
            text(definition.missedWithin(), ScheduleCodec::millis),
            definition.whileRunning().name(),
            millis(definition.jitter()));
    byte[] head = (line + "\n").getBytes(StandardCharsets.UTF_8);
    byte[] job = JobContentCodec.encode(definition.job());
    byte[] all = Arrays.copyOf(head, head.length + job.length);
    System.arraycopy(job, 0, all, head.length, job.length);
    return all;
  }

  private static String exclude(ScheduleDefinition definition) {
    String all =
        Stream.concat(
                definition.recurrence().exclude().stream().map(LocalDate::toString),
                definition.calendars().stream().map(name -> CALENDAR + name))
            .collect(Collectors.joining(","));
    return all.isEmpty() ? NONE : all;
  }

  /**
   * Reads the bytes back.
   *
   * @throws CorruptContentException if they are not what {@link #encode} writes
   */
  public static ScheduleDefinition decode(byte[] bytes) {
    int end = 0;
    while (end < bytes.length && bytes[end] != '\n') {
      end++;
    }
    String[] values = new String(bytes, 0, end, StandardCharsets.UTF_8).split("\t", -1);
    if (values.length != VALUES || !values[0].equals(VERSION) || end == bytes.length) {
      throw new CorruptContentException("it is no schedule of version " + VERSION);
    }
    List<String> exclude = values[9].equals(NONE) ? List.of() : List.of(values[9].split(",", -1));
    try {
      JobContent job = JobContentCodec.decode(Arrays.copyOfRange(bytes, end + 1, bytes.length));
      return new ScheduleDefinition(
          new Recurrence(
              value(values[1], Cron::parse),
              value(values[2], ScheduleCodec::duration),
              Instant.ofEpochMilli(Long.parseLong(values[3])),
              ZoneId.of(values[4]),
              Gap.valueOf(values[5]),
              Fold.valueOf(values[6]),
              value(values[7], ScheduleCodec::instant),
              value(values[8], ScheduleCodec::instant),
              exclude.stream()
                  .filter(text -> !text.startsWith(CALENDAR))
                  .map(LocalDate::parse)
                  .collect(Collectors.toSet())),
          exclude.stream()
              .filter(text -> text.startsWith(CALENDAR))
              .map(text -> text.substring(CALENDAR.length()))
              .collect(Collectors.toSet()),
          Missed.valueOf(values[10]),
          value(values[11], ScheduleCodec::duration),
          WhileRunning.valueOf(values[12]),
          duration(values[13]),
          job);
    } catch (IllegalArgumentException | java.time.DateTimeException e) {
      throw new CorruptContentException(String.valueOf(e.getMessage()), e);
    }
  }

  private static <T> String text(@Nullable T value, Function<T, String> writer) {
    return value == null ? NONE : writer.apply(value);
  }

  private static <T> @Nullable T value(String text, Function<String, T> reader) {
    return text.equals(NONE) ? null : reader.apply(text);
  }

  private static String millis(Duration duration) {
    return Long.toString(duration.toMillis());
  }

  private static String millis(Instant instant) {
    return Long.toString(instant.toEpochMilli());
  }

  private static Duration duration(String millis) {
    return Duration.ofMillis(Long.parseLong(millis));
  }

  private static Instant instant(String millis) {
    return Instant.ofEpochMilli(Long.parseLong(millis));
  }
}
