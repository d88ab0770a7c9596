package io.punctual.server.rest;

import io.punctual.server.input.Body;
import io.punctual.server.input.ICalendar;
import io.punctual.server.input.JobFields;
import io.punctual.server.jobs.CalendarService;
import io.punctual.server.problem.ApiException;
import io.punctual.server.security.Allowed;
import io.punctual.server.security.Role;
import java.net.URI;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.Collection;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Calendars, named lists of dates on which jobs do not start: put, find, list, delete. */
@RestController
@RequestMapping("/api/v1/calendars")
class CalendarsController {

  private static final String CALENDAR = "/{name}";

  private final CalendarService calendars;

  CalendarsController(CalendarService calendars) {
    this.calendars = calendars;
  }

  /**
   * A calendar to put.
   *
   * @param iCalendar events of whole days, as {@link ICalendar} reads them
   */
  record Request(@Nullable List<String> dates, @Nullable String iCalendar) {

    Collection<LocalDate> all() {
      if ((dates == null) == (iCalendar == null)) {
        throw ApiException.invalid("dates", "give exactly one of dates and iCalendar");
      }
      NavigableSet<LocalDate> all = new TreeSet<>();
      if (iCalendar != null) {
        try {
          all.addAll(ICalendar.dates(iCalendar));
        } catch (IllegalArgumentException e) {
          throw ApiException.invalid("iCalendar", String.valueOf(e.getMessage()));
        }
      } else if (dates != null) {
        for (int i = 0; i < dates.size(); i++) {
          try {
            all.add(LocalDate.parse(dates.get(i)));
          } catch (DateTimeParseException e) {
            throw ApiException.invalid("dates[" + i + "]", "must be a date such as 2027-12-24");
          }
        }
      }
      return all;
    }
  }

  record Calendar(String name, List<String> dates) {

    static Calendar of(String name, Collection<LocalDate> dates) {
      return new Calendar(name, dates.stream().map(LocalDate::toString).toList());
    }
  }

  record Deleted(String name, String outcome) {}

  @Allowed(Role.VIEWER)
  @GetMapping
  Page<Calendar> list() {
    return new Page<>(
        calendars.list().entrySet().stream()
            .map(entry -> Calendar.of(entry.getKey(), entry.getValue()))
            .toList(),
        null);
  }

  @Allowed(Role.VIEWER)
  @GetMapping(CALENDAR)
  Calendar find(@PathVariable String name) {
    return Calendar.of(name, calendars.find(JobFields.requiredName("name", name)));
  }

  /** Creates a calendar or replaces it. */
  @Allowed(Role.OPERATOR)
  @PutMapping(CALENDAR)
  ResponseEntity<Calendar> put(@PathVariable String name, @Body Request request) {
    Collection<LocalDate> dates = request.all();
    boolean created;
    try {
      created = calendars.put(JobFields.requiredName("name", name), dates);
    } catch (IllegalArgumentException e) {
      throw JobFields.named(e);
    }
    return (created
            ? ResponseEntity.created(URI.create("/api/v1/calendars/" + name))
            : ResponseEntity.ok())
        .body(Calendar.of(name, dates));
  }

  /** Deletes a calendar; jobs that name it may start on any day then. */
  @Allowed(Role.OPERATOR)
  @DeleteMapping(CALENDAR)
  Deleted delete(@PathVariable String name) {
    calendars.delete(JobFields.requiredName("name", name));
    return new Deleted(name, "deleted");
  }
}
