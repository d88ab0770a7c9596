package io.punctual.core.schedule;

import io.punctual.schedule.Fold;
import io.punctual.schedule.Gap;
import io.punctual.wire.Limits;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The planned instants of a schedule: a cron expression in the local times of a zone, or exact
 * steps from an instant. Instants have whole milliseconds.
 *
 * @param cron null where {@code every} is given
 * @param every distance in exact time, 1 s to 3,660 days; null where {@code cron} is given
 * @param anchor the first instant of {@code every}
 * @param zone whose local times {@code cron} and {@code exclude} name
 * @param gap what becomes of local times that do not exist
 * @param fold which of the local times count that come twice
 * @param from nothing fires before; null for no bound
 * @param until nothing fires after; null for no bound
 * @param exclude local dates on which nothing fires
 */
public record Recurrence(
    @Nullable Cron cron,
    @Nullable Duration every,
    Instant anchor,
    ZoneId zone,
    Gap gap,
    Fold fold,
    @Nullable Instant from,
    @Nullable Instant until,
    Set<LocalDate> exclude) {

  private static final Duration MIN_EVERY = Duration.ofSeconds(1);
  private static final Duration MAX_EVERY = Duration.ofDays(3660);

  // Longer than from one Friday that is a 29 February to the next.
  private static final Duration HORIZON = Duration.ofDays(100 * 365);

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException whose message begins with the name of the value that is wrong
   */
  public Recurrence {
    if ((cron == null) == (every == null)) {
      throw new IllegalArgumentException(
          "cron "
              + (cron == null ? "is missing" : "is not alone")
              + ": give exactly one of cron and every");
    }
    if (every != null
        && (every.compareTo(MIN_EVERY) < 0
            || every.compareTo(MAX_EVERY) > 0
            || every.toNanosPart() % 1_000_000 != 0)) {
      throw new IllegalArgumentException(
          "every must be between 1s and 3660d, in whole milliseconds, but was " + every);
    }
    if (from != null && until != null && until.isBefore(from)) {
      throw new IllegalArgumentException("until must not be before from, which is " + from);
    }
    anchor = anchor.truncatedTo(ChronoUnit.MILLIS);
    from = from == null ? null : from.truncatedTo(ChronoUnit.MILLIS);
    until = until == null ? null : until.truncatedTo(ChronoUnit.MILLIS);
    exclude = java.util.Collections.unmodifiableSet(new TreeSet<>(exclude));
  }

  /**
   * Returns the rule for local times that come twice where a schedule does not say: both count in a
   * rhythm that names no hour, or an hour would have no run; else the first counts.
   */
  public static Fold fold(@Nullable Cron cron) {
    return cron != null && cron.isHourly() ? Fold.BOTH : Fold.FIRST;
  }

  /** The same, which fires on fewer dates. */
  public Recurrence without(Set<LocalDate> dates) {
    Set<LocalDate> all = new TreeSet<>(exclude);
    all.addAll(dates);
    return new Recurrence(cron, every, anchor, zone, gap, fold, from, until, all);
  }

  /** Whether nothing fires on the local date of an instant. */
  boolean excludes(Instant at) {
    return exclude.contains(LocalDate.ofInstant(at, zone));
  }

  /** Returns the first occurrence behind an instant; null if there is none within 100 years. */
  public @Nullable Occurrence next(Instant after) {
    Instant base = from != null && after.isBefore(from) ? from.minusNanos(1) : after;
    Occurrence found = nextOfAll(base);
    while (found != null) {
      if ((until != null && found.at().isAfter(until)) || found.at().isAfter(Limits.MAX_DUE)) {
        return null;
      }
      if (!excludes(found.at())) {
        return found;
      }
      LocalDate day = LocalDate.ofInstant(found.at(), zone);
      Instant endOfDay = day.plusDays(1).atStartOfDay(zone).toInstant().minusNanos(1);
      found = nextOfAll(endOfDay.isAfter(found.at()) ? endOfDay : found.at());
    }
    return null;
  }

  /** Returns the next occurrences behind an instant. */
  public List<Occurrence> next(Instant after, int max) {
    List<Occurrence> found = new ArrayList<>();
    Occurrence next = next(after);
    while (next != null) {
      found.add(next);
      next = found.size() < max ? next(next.at()) : null;
    }
    return found;
  }

  /**
   * Returns the occurrences between two instants.
   *
   * @param begin the first instant that counts
   * @param end the last one that counts
   */
  public List<Occurrence> between(Instant begin, Instant end, int max) {
    return next(begin.minusNanos(1), max).stream()
        .takeWhile(found -> !found.at().isAfter(end))
        .toList();
  }

  /**
   * Returns the last instants up to another one, the latest first.
   *
   * @param end the last one that counts
   */
  public List<Instant> before(Instant end, int max) {
    List<Instant> found = new ArrayList<>();
    Instant last = end;
    while (found.size() < max) {
      Occurrence latest = latest(Instant.EPOCH, last);
      if (latest == null) {
        break;
      }
      found.add(latest.at());
      last = latest.at().minusMillis(1);
    }
    return found;
  }

  /** Returns the last occurrence behind an instant and up to another one; null if there is none. */
  @Nullable Occurrence latest(Instant after, Instant end) {
    Occurrence latest = null;
    long low = after.toEpochMilli();
    long high = end.toEpochMilli();
    // There is none behind the higher one.
    while (low < high) {
      long middle = low + (high - low) / 2;
      Occurrence found = next(Instant.ofEpochMilli(middle));
      if (found == null || found.at().isAfter(end)) {
        high = middle;
      } else {
        latest = found;
        low = found.at().toEpochMilli();
      }
    }
    return latest;
  }

  /**
   * Counts occurrences, of a cron expression or with {@code exclude} up to a bound.
   *
   * @param first the first one, unless it is excluded
   * @param behind one behind the last; null if none follows
   */
  long count(Instant first, @Nullable Instant behind, int max) {
    if (every != null && exclude.isEmpty() && behind != null) {
      return Duration.between(first, behind).dividedBy(every);
    }
    int count = 0;
    Instant at = excludes(first) ? at(next(first)) : first;
    while (at != null && (behind == null || at.isBefore(behind)) && count < max) {
      count++;
      at = at(next(at));
    }
    return count;
  }

  private static @Nullable Instant at(@Nullable Occurrence occurrence) {
    return occurrence == null ? null : occurrence.at();
  }

  private @Nullable Occurrence nextOfAll(Instant after) {
    if (cron != null) {
      return new Walk(cron, after).next();
    }
    return every == null ? null : new Occurrence(nextStep(after, every), null);
  }

  private Instant nextStep(Instant after, Duration step) {
    if (after.isBefore(anchor)) {
      return anchor;
    }
    long passed = Duration.between(anchor, after).dividedBy(step);
    return anchor.plus(step.multipliedBy(passed + 1));
  }

  /**
   * Goes from one stretch of time with a constant offset to the next. Within a stretch, local times
   * and instants are in the same order.
   */
  private final class Walk {

    private final Cron cron;
    private final Instant end;
    private final ZoneRules rules = zone.getRules();

    // What is looked for lies behind.
    private Instant after;

    /** The transition with which the stretch begins; null if there was none ever. */
    private @Nullable ZoneOffsetTransition begin;

    // The expression fires at no local time between these two.
    private @Nullable LocalDateTime searched;
    private @Nullable LocalDateTime found;

    private @Nullable String note;

    Walk(Cron cron, Instant after) {
      this.cron = cron;
      this.after = after;
      this.end = after.plus(HORIZON);
      this.begin = rules.previousTransition(after.plusNanos(1));
    }

    @Nullable Occurrence next() {
      Instant inside = after;
      while (after.isBefore(end)) {
        ZoneOffsetTransition next = rules.nextTransition(inside);
        Occurrence occurrence = earlier(shifted(), regular(rules.getOffset(inside), next));
        if (occurrence != null || next == null) {
          return occurrence;
        }
        begin = next;
        inside = next.getInstant();
        after = inside.minusNanos(1);
      }
      return null;
    }

    private static @Nullable Occurrence earlier(
        @Nullable Occurrence moved, @Nullable Occurrence regular) {
      if (moved == null || regular == null) {
        return moved == null ? regular : moved;
      }
      return moved.at().isBefore(regular.at()) ? moved : regular;
    }

    /** A local time that did not exist when the stretch began. */
    private @Nullable Occurrence shifted() {
      ZoneOffsetTransition over = begin;
      if (over == null || !over.isGap()) {
        return null;
      }
      LocalDateTime missing =
          firstBehind(later(local(over.getOffsetBefore()), over.getDateTimeBefore().minusNanos(1)));
      if (missing == null || !missing.isBefore(over.getDateTimeAfter())) {
        return null;
      }
      String what = missing.toLocalTime() + " does not exist on " + missing.toLocalDate();
      if (gap == Gap.SKIP) {
        note = "before it, " + what + " and was skipped";
        return null;
      }
      return new Occurrence(
          missing.toInstant(over.getOffsetBefore()),
          what + "; moved by " + over.getDuration().toString().substring(2));
    }

    private @Nullable Occurrence regular(ZoneOffset offset, @Nullable ZoneOffsetTransition next) {
      ZoneOffsetTransition back = begin != null && begin.isOverlap() ? begin : null;
      ZoneOffsetTransition ahead = next != null && next.isOverlap() ? next : null;
      LocalDateTime behind = local(offset);
      if (back != null && fold == Fold.FIRST) {
        behind = later(behind, back.getDateTimeBefore().minusNanos(1));
      }
      LocalDateTime time = firstBehind(behind);
      if (time == null || (next != null && !time.isBefore(next.getDateTimeBefore()))) {
        return null;
      }
      String which = null;
      if (back != null && time.isBefore(back.getDateTimeBefore())) {
        which = "second";
      } else if (ahead != null && !time.isBefore(ahead.getDateTimeAfter())) {
        if (fold == Fold.LAST) {
          return null;
        }
        which = "first";
      }
      return new Occurrence(
          time.toInstant(offset),
          which == null
              ? note
              : time.toLocalTime()
                  + " comes twice on "
                  + time.toLocalDate()
                  + "; this is the "
                  + which);
    }

    private LocalDateTime local(ZoneOffset offset) {
      return LocalDateTime.ofInstant(after, offset);
    }

    private @Nullable LocalDateTime firstBehind(LocalDateTime time) {
      LocalDateTime known = searched;
      if (known == null || time.isBefore(known) || (found != null && !time.isBefore(found))) {
        found = cron.next(time);
        searched = time;
      }
      return found;
    }

    private static LocalDateTime later(LocalDateTime one, LocalDateTime other) {
      return one.isAfter(other) ? one : other;
    }
  }
}
