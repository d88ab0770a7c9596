package io.punctual.core.calendar;

import java.util.Map;

/** Keeps calendars: a text by name. */
public interface CalendarStore {

  /**
   * Returns all of them.
   *
   * @throws io.punctual.core.store.StoreException if the store did not answer; so do the others
   */
  Map<String, String> all();

  /** Creates or replaces one. */
  void put(String name, String text);

  /** Deletes one; false if there was none. */
  boolean delete(String name);
}
