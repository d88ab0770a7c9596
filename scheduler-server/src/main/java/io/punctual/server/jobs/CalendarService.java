package io.punctual.server.jobs;

import io.punctual.ErrorCode;
import io.punctual.core.Engine;
import io.punctual.server.audit.AuditLog;
import io.punctual.server.problem.ApiException;
import java.time.LocalDate;
import java.util.Collection;
import java.util.Map;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Shows and changes calendars, and records it in the audit. */
@Component
public class CalendarService {

  private final Engine engine;
  private final AuditLog audit;

  CalendarService(Engine engine, AuditLog audit) {
    this.engine = engine;
    this.audit = audit;
  }

  /** Returns all calendars by name. */
  public Map<String, SortedSet<LocalDate>> list() {
    return engine.calendars().all();
  }

  /**
   * Returns the dates of a calendar.
   *
   * @throws ApiException 404
   */
  public SortedSet<LocalDate> find(String name) {
    return engine.calendars().find(name).orElseThrow(() -> unknown(name));
  }

  /**
   * Creates or replaces a calendar.
   *
   * @return whether it is new
   * @throws IllegalArgumentException naming the field, if there are too many dates or calendars
   */
  public boolean put(String name, Collection<LocalDate> dates) {
    boolean created = engine.calendars().put(name, dates);
    audit.did("calendar", () -> name, created ? null : "there", dates.size() + " dates");
    return created;
  }

  /**
   * Deletes a calendar.
   *
   * @throws ApiException 404
   */
  public void delete(String name) {
    if (!engine.calendars().delete(name)) {
      throw unknown(name);
    }
    audit.did("calendar", () -> name, "there", "deleted");
  }

  /**
   * Checks that a calendar is there.
   *
   * @param name null for none
   * @throws ApiException 400
   */
  void require(@Nullable String name) {
    try {
      engine.calendars().require(name);
    } catch (IllegalArgumentException e) {
      throw ApiException.invalid(
          "calendar", String.valueOf(e.getMessage()).substring("calendar ".length()));
    }
  }

  private static ApiException unknown(String name) {
    return ApiException.of(ErrorCode.NOT_FOUND, "no calendar " + name + " is known");
  }
}
