package io.punctual.schedule;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A recurring schedule: when jobs are submitted, and what they carry. What is null has the default
 * that {@code docs/api-schedules.md} names. Immutable; made with {@link #of}.
 *
 * @param taskType the name of the worker that runs its jobs
 * @param id the schedule's name within its task type, at most 100 characters
 * @param cron a cron expression of 5 or 6 fields, or a macro; null where {@code every} is given
 * @param every distance in exact time; null where {@code cron} is given
 * @param anchor the first instant of {@code every}
 * @param zone whose local times {@code cron} and {@code exclude} name; null for UTC
 * @param gap what becomes of local times that do not exist
 * @param fold which local times count that come twice
 * @param from nothing fires before
 * @param until nothing fires after
 * @param exclude local dates on which nothing fires
 * @param calendars names of calendars on whose dates nothing fires
 * @param missed what becomes of occurrences that no scheduler could submit within a minute
 * @param missedWithin missed occurrences that are older do not run
 * @param whileRunning what becomes of an occurrence while the job of the one before is there
 * @param jitter its jobs are due later by up to this
 * @param params text handed to the worker
 * @param timeToRun how long one attempt may take
 * @param retry what to do after a failed attempt, as {@code RetryPolicy.parse} reads it
 * @param headers small texts that travel with its jobs
 * @param tags business keys of its jobs
 */
public record Schedule(
    String taskType,
    String id,
    @Nullable String cron,
    @Nullable Duration every,
    @Nullable Instant anchor,
    @Nullable ZoneId zone,
    @Nullable Gap gap,
    @Nullable Fold fold,
    @Nullable Instant from,
    @Nullable Instant until,
    Set<LocalDate> exclude,
    Set<String> calendars,
    @Nullable Missed missed,
    @Nullable Duration missedWithin,
    @Nullable WhileRunning whileRunning,
    @Nullable Duration jitter,
    String params,
    @Nullable Duration timeToRun,
    @Nullable String retry,
    Map<String, String> headers,
    List<String> tags) {

  /** Copies the collections. */
  public Schedule {
    exclude = java.util.Collections.unmodifiableSet(new TreeSet<>(exclude));
    calendars = java.util.Collections.unmodifiableSet(new TreeSet<>(calendars));
    headers = java.util.Collections.unmodifiableMap(new TreeMap<>(headers));
    tags = tags.stream().sorted().distinct().toList();
  }

  /** Begins a schedule. */
  public static Builder of(String taskType, String id) {
    return new Builder(taskType, id);
  }

  /** Collects the parts of a schedule; the scheduler checks them when it is put. */
  public static final class Builder {
    private final String taskType;
    private final String id;
    private @Nullable String cron;
    private @Nullable Duration every;
    private @Nullable Instant anchor;
    private @Nullable ZoneId zone;
    private @Nullable Gap gap;
    private @Nullable Fold fold;
    private @Nullable Instant from;
    private @Nullable Instant until;
    private final Set<LocalDate> exclude = new TreeSet<>();
    private final Set<String> calendars = new TreeSet<>();
    private @Nullable Missed missed;
    private @Nullable Duration missedWithin;
    private @Nullable WhileRunning whileRunning;
    private @Nullable Duration jitter;
    private String params = "";
    private @Nullable Duration timeToRun;
    private @Nullable String retry;
    private final Map<String, String> headers = new TreeMap<>();
    private final List<String> tags = new ArrayList<>();

    private Builder(String taskType, String id) {
      this.taskType = taskType;
      this.id = id;
    }

    /** Fires at the local times of a zone that the expression names. */
    public Builder cron(String expression, ZoneId in) {
      cron = expression;
      zone = in;
      return this;
    }

    /** Fires in exact steps from an instant on. */
    public Builder every(Duration step, Instant first) {
      every = step;
      anchor = first;
      return this;
    }

    /** What becomes of local times that do not exist; {@link Gap#SHIFT} by default. */
    public Builder gap(Gap rule) {
      gap = rule;
      return this;
    }

    /** Which local times count that come twice. */
    public Builder fold(Fold rule) {
      fold = rule;
      return this;
    }

    /** Nothing fires before. */
    public Builder from(Instant first) {
      from = first;
      return this;
    }

    /** Nothing fires after. */
    public Builder until(Instant last) {
      until = last;
      return this;
    }

    /** Nothing fires on that local date. */
    public Builder exclude(LocalDate date) {
      exclude.add(date);
      return this;
    }

    /** Nothing fires on the local dates of a calendar, which an operator defines. */
    public Builder exclude(String calendar) {
      calendars.add(calendar);
      return this;
    }

    /** What becomes of missed occurrences; {@link Missed#LATEST} by default. */
    public Builder missed(Missed rule) {
      missed = rule;
      missedWithin = null;
      return this;
    }

    /** The same, unless they are older than that. */
    public Builder missed(Missed rule, Duration within) {
      missed = rule;
      missedWithin = within;
      return this;
    }

    /** What becomes of an occurrence while the job of the one before is there. */
    public Builder whileRunning(WhileRunning rule) {
      whileRunning = rule;
      return this;
    }

    /** Its jobs are due later by up to that. */
    public Builder jitter(Duration most) {
      jitter = most;
      return this;
    }

    /** The text handed to the worker; empty without this call. */
    public Builder params(String text) {
      params = text;
      return this;
    }

    /** How long one attempt may take. */
    public Builder timeToRun(Duration most) {
      timeToRun = most;
      return this;
    }

    /** What to do after a failed attempt: a text as {@code RetryPolicy.parse} reads it. */
    public Builder retry(String policy) {
      retry = policy;
      return this;
    }

    /** Adds a header, or replaces the one of that name. */
    public Builder header(String name, String value) {
      headers.put(name, value);
      return this;
    }

    /** Adds a tag, by which its jobs can be found. */
    public Builder tag(String tag) {
      tags.add(tag);
      return this;
    }

    /** Makes the schedule. */
    public Schedule build() {
      return new Schedule(
          taskType,
          id,
          cron,
          every,
          anchor,
          zone,
          gap,
          fold,
          from,
          until,
          exclude,
          calendars,
          missed,
          missedWithin,
          whileRunning,
          jitter,
          params,
          timeToRun,
          retry,
          headers,
          tags);
    }
  }
}
