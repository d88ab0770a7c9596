package io.punctual.core.times;

import io.punctual.core.job.Due;
import io.punctual.core.job.IndexTags;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.Opening;
import io.punctual.schedule.TimeRules;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.zip.CRC32;

/** Applies the time rules of a job. All times are epoch ms of the store. */
public final class StartTimes {

  /** No such time. */
  public static final long NEVER = Long.MAX_VALUE;

  /** A calendar may close more days than are looked at. */
  private static final long YEARS = Duration.ofDays(2_000).toMillis();

  /** Calendars may be changed. */
  private static final long CALENDAR_CHECK = Duration.ofMinutes(1).toMillis();

  /** Whole days follow each other; for how many of them an opening counts as one. */
  private static final int TOUCHING = 10;

  /**
   * How a job is stored.
   *
   * @param due when it may start first
   * @param tags its own, and those by which the store finds it
   */
  public record Placement(Due due, List<String> tags) {}

  private final Function<String, Set<LocalDate>> calendars;

  /**
   * @param calendars gives the dates of a calendar; none for one that is not known
   */
  public StartTimes(Function<String, Set<LocalDate>> calendars) {
    this.calendars = calendars;
  }

  /**
   * Returns the last moment at which an attempt may start; {@link #NEVER} if there is none.
   *
   * @param acceptedAt when the job was accepted
   */
  public static long last(TimeRules rules, long acceptedAt) {
    if (rules.notAfter() != null) {
      return rules.notAfter().toEpochMilli();
    }
    return rules.expiresIn() == null ? NEVER : acceptedAt + rules.expiresIn().toMillis();
  }

  /**
   * Returns where a job is put that was submitted, or got another due time.
   *
   * @param due as asked for
   * @param now the store's time
   */
  public Placement place(String taskId, JobContent content, Due due, long acceptedAt, long now) {
    TimeRules rules = content.timeRules();
    if (rules.isNone()) {
      return new Placement(due, content.indexTags());
    }
    long last = last(rules, acceptedAt);
    long asked = due.relative() ? now + due.millis() : due.millis();
    // What was due in the past may start now, unless it is outside of its hours.
    long from = rules.hasHours() ? Math.max(asked, now) : asked;
    long first = first(taskId, rules, from, last, /* spread= */ true);
    long moved = first == NEVER || first == from ? 0 : first - asked;
    List<String> tags = content.indexTags();
    if (last != NEVER) {
      tags = new ArrayList<>(tags);
      tags.add(0, IndexTags.notAfter(last));
    }
    return new Placement(new Due(due.relative(), due.millis() + moved), List.copyOf(tags));
  }

  /**
   * Returns the first moment, from one on, at which an attempt may start; that moment itself if it
   * may start then. One that is moved is spread as the job is.
   *
   * @param last see {@link #last}
   * @return {@link #NEVER} if its hours never come
   */
  public long next(String taskId, TimeRules rules, long from, long last) {
    return first(taskId, rules, from, last, /* spread= */ false);
  }

  /**
   * Returns when a queue of such hours hands out jobs: the opening at that moment, or the next one.
   *
   * @param rules hours, of which there are some
   * @throws io.punctual.core.store.StoreException if its calendar is not known yet
   */
  public Opening opening(TimeRules rules, long now) {
    OpenHours hours = hours(rules);
    OpenHours.Opening opening = hours.at(Instant.ofEpochMilli(now));
    long from = opening == null ? now + YEARS : opening.from().toEpochMilli();
    long to = opening == null ? from : opening.to().toEpochMilli();
    long good = from > now ? from : to;
    return new Opening(
        from > now ? from : begin(hours, from),
        to,
        now,
        rules.calendar() == null ? good : Math.min(good, now + CALENDAR_CHECK));
  }

  /** When the first of the openings began that end where the next one begins, up to this one. */
  private static long begin(OpenHours hours, long from) {
    long begin = from;
    for (int i = 0; i < TOUCHING; i++) {
      OpenHours.Opening before = hours.at(Instant.ofEpochMilli(begin - 1));
      if (before == null || before.from().toEpochMilli() >= begin) {
        break;
      }
      begin = before.from().toEpochMilli();
    }
    return begin;
  }

  private long first(String taskId, TimeRules rules, long from, long last, boolean spread) {
    long start = from;
    long end = last;
    if (rules.hasHours()) {
      OpenHours.Opening opening = hours(rules).at(Instant.ofEpochMilli(from));
      if (opening == null) {
        return NEVER;
      }
      start = Math.max(from, opening.from().toEpochMilli());
      end = Math.min(last, opening.to().toEpochMilli() - 1);
    }
    return rules.within() == null || (start == from && !spread)
        ? start
        : start + offset(taskId, rules.within(), end - start);
  }

  private OpenHours hours(TimeRules rules) {
    String calendar = rules.calendar();
    Set<LocalDate> closed = calendar == null ? Set.of() : calendars.apply(calendar);
    ZoneId zone = rules.windowZone();
    return new OpenHours(rules.window(), zone == null ? ZoneOffset.UTC : zone, closed::contains);
  }

  /** The part of a spread that is a job's own: the same for the same id, everywhere. */
  private static long offset(String taskId, Duration within, long most) {
    long width = Math.max(0, Math.min(within.toMillis(), most));
    CRC32 crc = new CRC32();
    crc.update(taskId.getBytes(StandardCharsets.UTF_8));
    // As 32 bits behind the point, times the number of moments: an unsigned product.
    return (mixed((int) crc.getValue()) * (width + 1)) >>> 32;
  }

  // Ids that differ little differ little in their CRC; the last step of MurmurHash3.
  private static long mixed(int hash) {
    int h = hash;
    h = (h ^ (h >>> 16)) * 0x85ebca6b;
    h = (h ^ (h >>> 13)) * 0xc2b2ae35;
    return (h ^ (h >>> 16)) & 0xffffffffL;
  }
}
