package io.punctual.core.calendar;

import java.time.Duration;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Named lists of dates on which jobs do not start. Kept in the store, for all engines on it; a
 * change is known to the others within seconds.
 */
public final class Calendars {

  /** Most dates of one calendar. */
  public static final int MAX_DATES = 2_000;

  /** Most calendars. */
  public static final int MAX_CALENDARS = 500;

  private static final Duration FRESH = Duration.ofSeconds(5);

  private final CalendarStore store;
  private final LongSupplier ticks;
  private volatile @Nullable Known known;

  private record Known(Map<String, SortedSet<LocalDate>> calendars, long at) {}

  /**
   * @param ticks monotonic ns
   */
  public Calendars(CalendarStore store, LongSupplier ticks) {
    this.store = store;
    this.ticks = ticks;
  }

  /**
   * Returns all calendars by name, as the store has them.
   *
   * @throws io.punctual.core.store.StoreException if the store did not answer
   */
  public Map<String, SortedSet<LocalDate>> all() {
    Map<String, SortedSet<LocalDate>> all = new TreeMap<>();
    store.all().forEach((name, text) -> all.put(name, dates(text)));
    known = new Known(all, ticks.getAsLong());
    return Collections.unmodifiableMap(all);
  }

  /** Returns a calendar, as the store has it. */
  public Optional<SortedSet<LocalDate>> find(String name) {
    return Optional.ofNullable(all().get(name));
  }

  /**
   * Returns the dates of a calendar as they were within the last seconds; none if there is no such
   * calendar.
   *
   * @throws io.punctual.core.store.StoreException if it was never read, and the store did not
   *     answer
   */
  public Set<LocalDate> closed(String name) {
    Known now = known;
    if (now == null || ticks.getAsLong() - now.at() > FRESH.toNanos()) {
      try {
        return all().getOrDefault(name, Collections.emptySortedSet());
      } catch (RuntimeException e) {
        if (now == null) {
          throw e;
        }
        // The end of an attempt must not be lost for want of newer dates.
      }
    }
    return now.calendars().getOrDefault(name, Collections.emptySortedSet());
  }

  /**
   * Checks that a calendar is there; one that was put elsewhere a moment ago is.
   *
   * @throws IllegalArgumentException if there is none of that name
   */
  public void require(@Nullable String name) {
    if (name == null) {
      return;
    }
    Known now = known;
    if ((now == null || !now.calendars().containsKey(name)) && !all().containsKey(name)) {
      throw new IllegalArgumentException(
          "calendar '" + name + "' is not known: create it with PUT /api/v1/calendars/" + name);
    }
  }

  /**
   * Creates or replaces a calendar.
   *
   * @return whether it is new
   * @throws IllegalArgumentException if there are too many dates or calendars
   */
  public boolean put(String name, Collection<LocalDate> dates) {
    SortedSet<LocalDate> sorted = new TreeSet<>(dates);
    if (sorted.size() > MAX_DATES) {
      throw new IllegalArgumentException(
          "dates: at most " + MAX_DATES + " in a calendar, not " + sorted.size());
    }
    Map<String, SortedSet<LocalDate>> all = all();
    boolean created = !all.containsKey(name);
    if (created && all.size() >= MAX_CALENDARS) {
      throw new IllegalArgumentException("name: there are already " + MAX_CALENDARS + " calendars");
    }
    store.put(name, sorted.stream().map(LocalDate::toString).collect(Collectors.joining(",")));
    known = null;
    return created;
  }

  /** Deletes a calendar; false if there is none. Jobs that name it start on any day. */
  public boolean delete(String name) {
    boolean deleted = store.delete(name);
    known = null;
    return deleted;
  }

  // What another program wrote counts as far as it can be read.
  private static SortedSet<LocalDate> dates(String text) {
    SortedSet<LocalDate> dates = new TreeSet<>();
    Arrays.stream(text.split(",", -1))
        .forEach(
            date -> {
              try {
                if (!date.isEmpty()) {
                  dates.add(LocalDate.parse(date));
                }
              } catch (DateTimeParseException e) {
                // Left out.
              }
            });
    return Collections.unmodifiableSortedSet(dates);
  }
}
