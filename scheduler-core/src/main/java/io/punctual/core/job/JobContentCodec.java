package io.punctual.core.job;

import io.punctual.DelayQueueJob.Event;
import io.punctual.RetryPolicy;
import io.punctual.schedule.TimeRules;
import io.punctual.schedule.Windows;
import io.punctual.wire.Limits;
import java.io.ByteArrayOutputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The bytes in which a job's content is stored. Equal content gives equal bytes (times to the
 * millisecond), since the store takes jobs with equal bytes for the same job.
 *
 * <pre>
 * flags: a number of which bits 5 and 6 are the version, 2
 * due ms | [time-to-run ms] | [retry policy as text] | params
 * [number of headers | name, value ... in ascending order of names]
 * [number of tags | tag ... in ascending order]
 * [last start, epoch ms] | [last start, ms from acceptance] | [spread ms]
 * [window] | [its zone] | [calendar]
 * [number of events that cancel | name, key ... in ascending order]
 * [number of events that make due | name, key ... in ascending order]
 * </pre>
 *
 * <p>Numbers are unsigned LEB128; texts are UTF-8 behind their length in bytes. The flags of most
 * jobs are below the version, so that they take one byte; further flags begin at bit 7.
 */
public final class JobContentCodec {

  private static final int VERSION = 2;
  private static final int RELATIVE = 1;
  private static final int TIME_TO_RUN = 2;
  private static final int RETRY = 4;
  private static final int TAGS = 8;
  private static final int HEADERS = 16;
  private static final int NOT_AFTER = 1 << 7;
  private static final int EXPIRES_IN = 1 << 8;
  private static final int WITHIN = 1 << 9;
  private static final int VERSION_SHIFT = 5;
  private static final int VERSION_MASK = 3;
  private static final int WINDOW = 1 << 10;
  private static final int ZONE = 1 << 11;
  private static final int CALENDAR = 1 << 12;
  private static final int TIME_RULES = NOT_AFTER | EXPIRES_IN | WITHIN | WINDOW | ZONE | CALENDAR;
  private static final int CANCEL_ON = 1 << 13;
  private static final int RUN_ON = 1 << 14;
  private static final long FLAGS =
      RELATIVE | TIME_TO_RUN | RETRY | TAGS | HEADERS | TIME_RULES | CANCEL_ON | RUN_ON;

  private JobContentCodec() {}

  /**
   * Writes the bytes.
   *
   * @throws IllegalArgumentException if a text holds half a surrogate pair, which UTF-8 cannot say
   */
  public static byte[] encode(JobContent content) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(content.params().length() + 32);
    number(
        out,
        ((long) VERSION << VERSION_SHIFT)
            | (content.due().relative() ? RELATIVE : 0)
            | (content.timeToRun() != null ? TIME_TO_RUN : 0)
            | (content.retry() != null ? RETRY : 0)
            | (content.tags().isEmpty() ? 0 : TAGS)
            | (content.headers().isEmpty() ? 0 : HEADERS)
            | flags(content.timeRules())
            | (content.cancelOn().isEmpty() ? 0 : CANCEL_ON)
            | (content.runOn().isEmpty() ? 0 : RUN_ON));
    number(out, content.due().millis());
    if (content.timeToRun() != null) {
      number(out, content.timeToRun().toMillis());
    }
    if (content.retry() != null) {
      text(out, "retry", content.retry().text());
    }
    text(out, "params", content.params());
    if (!content.headers().isEmpty()) {
      number(out, content.headers().size());
      new TreeMap<>(content.headers())
          .forEach(
              (name, value) -> {
                text(out, "headers", name);
                text(out, "headers." + name, value);
              });
    }
    if (!content.tags().isEmpty()) {
      number(out, content.tags().size());
      for (String tag : new TreeSet<>(content.tags())) {
        text(out, "tags", tag);
      }
    }
    timeRules(out, content.timeRules());
    events(out, "cancelOn", content.cancelOn());
    events(out, "runOn", content.runOn());
    return out.toByteArray();
  }

  private static int flags(TimeRules rules) {
    return (rules.notAfter() != null ? NOT_AFTER : 0)
        | (rules.expiresIn() != null ? EXPIRES_IN : 0)
        | (rules.within() != null ? WITHIN : 0)
        | (rules.window() != null ? WINDOW : 0)
        | (rules.windowZone() != null ? ZONE : 0)
        | (rules.calendar() != null ? CALENDAR : 0);
  }

  private static void timeRules(ByteArrayOutputStream out, TimeRules rules) {
    if (rules.notAfter() != null) {
      number(out, rules.notAfter().toEpochMilli());
    }
    if (rules.expiresIn() != null) {
      number(out, rules.expiresIn().toMillis());
    }
    if (rules.within() != null) {
      number(out, rules.within().toMillis());
    }
    if (rules.window() != null) {
      text(out, "window", rules.window().toString());
    }
    if (rules.windowZone() != null) {
      text(out, "windowZone", rules.windowZone().getId());
    }
    if (rules.calendar() != null) {
      text(out, "calendar", rules.calendar());
    }
  }

  private static TimeRules timeRules(long flags, ByteBuffer in) throws CharacterCodingException {
    return (flags & TIME_RULES) == 0
        ? TimeRules.NONE
        : new TimeRules(
            (flags & NOT_AFTER) == 0 ? null : Instant.ofEpochMilli(number(in)),
            (flags & EXPIRES_IN) == 0 ? null : Duration.ofMillis(number(in)),
            (flags & WITHIN) == 0 ? null : Duration.ofMillis(number(in)),
            (flags & WINDOW) == 0 ? null : window(text(in)),
            (flags & ZONE) == 0 ? null : zone(text(in)),
            (flags & CALENDAR) == 0 ? null : text(in));
  }

  private static Windows window(String text) {
    Windows window = Windows.parse(text);
    if (!window.toString().equals(text)) {
      throw new CorruptContentException("a window is not well formed");
    }
    return window;
  }

  private static ZoneId zone(String name) {
    try {
      return ZoneId.of(name);
    } catch (DateTimeException e) {
      throw new CorruptContentException("a time zone is not known", e);
    }
  }

  /**
   * Whether the job may not start whenever it is due, as far as its first bytes say. Reads nothing
   * of most jobs but a byte.
   */
  public static boolean hasTimeRules(byte[] bytes) {
    if (bytes.length == 0 || bytes[0] >= 0) {
      return false;
    }
    try {
      return (number(ByteBuffer.wrap(bytes)) & TIME_RULES) != 0;
    } catch (BufferUnderflowException | CorruptContentException e) {
      return false;
    }
  }

  /**
   * Reads the bytes back.
   *
   * @throws CorruptContentException if they are not what {@link #encode} writes, to the byte
   */
  public static JobContent decode(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    try {
      long flags = number(in);
      long version = (flags >> VERSION_SHIFT) & VERSION_MASK;
      if (version != VERSION) {
        throw new CorruptContentException(
            "content of version " + version + ", this release reads version " + VERSION);
      }
      long unknown = flags & ~(FLAGS | (VERSION_MASK << VERSION_SHIFT));
      if (unknown != 0) {
        throw new CorruptContentException(
            "content with flags " + Long.toHexString(unknown) + ", which a later release wrote");
      }
      Due due = new Due((flags & RELATIVE) != 0, number(in));
      JobContent.Builder content = JobContent.of(due);
      if ((flags & TIME_TO_RUN) != 0) {
        content.timeToRun(Duration.ofMillis(number(in)));
      }
      if ((flags & RETRY) != 0) {
        content.retry(RetryPolicy.parse(text(in)));
      }
      content.params(text(in));
      if ((flags & HEADERS) != 0) {
        content.headers(headers(in));
      }
      if ((flags & TAGS) != 0) {
        content.tags(tags(in));
      }
      content.timeRules(timeRules(flags, in));
      if ((flags & CANCEL_ON) != 0) {
        content.cancelOn(events(in));
      }
      if ((flags & RUN_ON) != 0) {
        content.runOn(events(in));
      }
      if (in.hasRemaining()) {
        throw new CorruptContentException(in.remaining() + " bytes too many");
      }
      return content.build();
    } catch (BufferUnderflowException e) {
      throw new CorruptContentException("it ends too early", e);
    } catch (CharacterCodingException e) {
      throw new CorruptContentException("a text is not UTF-8", e);
    } catch (IllegalArgumentException e) {
      throw new CorruptContentException(String.valueOf(e.getMessage()), e);
    }
  }

  private static Map<String, String> headers(ByteBuffer in) throws CharacterCodingException {
    long count = number(in);
    TreeMap<String, String> headers = new TreeMap<>();
    for (long i = 0; i < count; i++) {
      String name = text(in);
      if (!headers.isEmpty() && headers.lastKey().compareTo(name) >= 0) {
        throw new CorruptContentException("headers out of order");
      }
      headers.put(name, text(in));
    }
    if (headers.isEmpty()) {
      throw new CorruptContentException("headers are announced, and none is there");
    }
    return java.util.Collections.unmodifiableMap(headers);
  }

  private static List<String> tags(ByteBuffer in) throws CharacterCodingException {
    long count = number(in);
    TreeSet<String> tags = new TreeSet<>();
    for (long i = 0; i < count; i++) {
      String tag = text(in);
      if (!tags.isEmpty() && tags.last().compareTo(tag) >= 0) {
        throw new CorruptContentException("tags out of order");
      }
      tags.add(tag);
    }
    if (tags.isEmpty()) {
      throw new CorruptContentException("tags are announced, and none is there");
    }
    return List.copyOf(tags);
  }

  private static void events(ByteArrayOutputStream out, String field, List<Event> events) {
    if (!events.isEmpty()) {
      number(out, events.size());
      for (Event event : new TreeSet<>(events)) {
        text(out, field, event.name());
        text(out, field, event.key());
      }
    }
  }

  private static List<Event> events(ByteBuffer in) throws CharacterCodingException {
    long count = number(in);
    TreeSet<Event> events = new TreeSet<>();
    for (long i = 0; i < count; i++) {
      Event event = new Event(text(in), text(in));
      if (!events.isEmpty() && events.last().compareTo(event) >= 0) {
        throw new CorruptContentException("events out of order");
      }
      events.add(event);
    }
    if (events.isEmpty()) {
      throw new CorruptContentException("events are announced, and none is there");
    }
    return List.copyOf(events);
  }

  private static void number(ByteArrayOutputStream out, long value) {
    long rest = value;
    while (rest >= 0x80) {
      out.write((int) (rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    out.write((int) rest);
  }

  private static long number(ByteBuffer in) {
    long value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      byte next = in.get();
      value |= (next & 0x7fL) << shift;
      if (next >= 0) {
        if (next == 0 && shift > 0) {
          throw new CorruptContentException("a number is written too long");
        }
        return value;
      }
    }
    throw new CorruptContentException("a number is too large");
  }

  private static void text(ByteArrayOutputStream out, String field, String value) {
    if (!Limits.isWhole(value)) {
      throw new IllegalArgumentException(
          field + " holds half a surrogate pair, which is no character; send whole ones");
    }
    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
    number(out, bytes.length);
    out.writeBytes(bytes);
  }

  private static String text(ByteBuffer in) throws CharacterCodingException {
    long length = number(in);
    if (length > in.remaining()) {
      throw new BufferUnderflowException();
    }
    int begin = in.position();
    in.position(begin + (int) length);
    return Utf8.text(in.array(), in.arrayOffset() + begin, (int) length);
  }
}
