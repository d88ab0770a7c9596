package io.punctual.test.store;

import io.punctual.core.calendar.CalendarStore;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;

/** Calendars of a test. */
public final class InMemoryCalendarStore implements CalendarStore {

  private final Map<String, String> calendars = new ConcurrentSkipListMap<>();

  /** Forgets everything. */
  public void clear() {
    calendars.clear();
  }

  @Override
  public Map<String, String> all() {
    return new TreeMap<>(calendars);
  }

  @Override
  public void put(String name, String text) {
    calendars.put(name, text);
  }

  @Override
  public boolean delete(String name) {
    return calendars.remove(name) != null;
  }
}
