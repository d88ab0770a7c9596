package io.punctual.core.schedule;

import io.punctual.DelayQueueJob;
import io.punctual.RetryPolicy;
import io.punctual.core.job.Due;
import io.punctual.core.job.JobContent;
import io.punctual.schedule.Gap;
import io.punctual.schedule.Missed;
import io.punctual.schedule.Schedule;
import io.punctual.schedule.WhileRunning;
import io.punctual.wire.Limits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * A schedule as its user defines it. Two schedules with equal definitions are the same.
 *
 * @param calendars names of calendars on whose dates nothing fires, at most {@value
 *     #MAX_CALENDARS}; see {@link #resolved}
 * @param missed what becomes of occurrences that were not submitted within a minute
 * @param missedWithin those that are older do not run; null for no bound. Only where some run
 * @param whileRunning what becomes of an occurrence while the job of the one before is there
 * @param jitter its jobs are due later by up to this, 0 to 24 h: each by the same time for all
 *     schedulers. The planned instant stays
 * @param job what its jobs carry; the due time in it means nothing
 */
public record ScheduleDefinition(
    Recurrence recurrence,
    Set<String> calendars,
    Missed missed,
    @Nullable Duration missedWithin,
    WhileRunning whileRunning,
    Duration jitter,
    JobContent job) {

  /** Most dates that a schedule may name in {@code exclude}. */
  public static final int MAX_EXCLUDED = 1000;

  /** Most calendars that a schedule may name. */
  public static final int MAX_CALENDARS = 10;

  /** How many runs are compared with the jitter: those of a day or a week differ. */
  private static final int LOOKED_AT = 100;

  /** As many runs of a rarer schedule take long to find. */
  private static final Duration OFTEN = Duration.ofDays(31);

  private static final Duration MAX_JITTER = Duration.ofHours(24);
  private static final Duration MAX_MISSED = Duration.ofDays(366);

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException whose message begins with the name of the value that is wrong
   */
  public ScheduleDefinition {
    calendars = java.util.Collections.unmodifiableSet(new TreeSet<>(calendars));
    if (missedWithin != null) {
      if (missed == Missed.NONE) {
        throw new IllegalArgumentException(
            "missedWithin belongs to missed latest and all; with none, nothing missed runs");
      }
      if (missedWithin.compareTo(Duration.ofMinutes(1)) < 0
          || missedWithin.compareTo(MAX_MISSED) > 0) {
        throw new IllegalArgumentException(
            "missedWithin must be between 1m and 366d, but was " + missedWithin);
      }
    }
    if (missed == Missed.ALL && whileRunning != WhileRunning.START) {
      throw new IllegalArgumentException(
          "missed must not be all unless whileRunning is start: all of them begin together, and"
              + " would be skipped but for one");
    }
    if (jitter.isNegative() || jitter.compareTo(MAX_JITTER) > 0) {
      throw new IllegalArgumentException("jitter must be between 0s and 24h, but was " + jitter);
    }
    var unused = job("x", "x", 0, job);
  }

  /** Without calendars. */
  public ScheduleDefinition(
      Recurrence recurrence,
      Missed missed,
      @Nullable Duration missedWithin,
      WhileRunning whileRunning,
      Duration jitter,
      JobContent job) {
    this(recurrence, Set.of(), missed, missedWithin, whileRunning, jitter, job);
  }

  /**
   * The same as it fires now: with the dates of its calendars left out.
   *
   * @param dates gives those of a calendar
   */
  public ScheduleDefinition resolved(Function<String, Set<LocalDate>> dates) {
    Recurrence resolved = recurrence;
    for (String calendar : calendars) {
      resolved = resolved.without(dates.apply(calendar));
    }
    return new ScheduleDefinition(
        resolved, calendars, missed, missedWithin, whileRunning, jitter, job);
  }

  /**
   * Makes the definition of a schedule, with defaults for what it does not say.
   *
   * @throws IllegalArgumentException whose message begins with the name of the value that is wrong
   */
  public static ScheduleDefinition of(Schedule schedule) {
    String text = schedule.cron();
    Cron cron = text == null ? null : Cron.parse(text);
    if (cron == null) {
      onlyWithCron("gap", schedule.gap());
      onlyWithCron("fold", schedule.fold());
    } else if (schedule.anchor() != null) {
      throw new IllegalArgumentException("anchor belongs to every, not to cron; use from");
    }
    if (schedule.exclude().size() > MAX_EXCLUDED) {
      throw new IllegalArgumentException("exclude must have at most " + MAX_EXCLUDED + " dates");
    }
    if (schedule.calendars().size() > MAX_CALENDARS) {
      throw new IllegalArgumentException(
          "exclude must name at most " + MAX_CALENDARS + " calendars");
    }
    schedule.calendars().forEach(name -> Limits.requireName("exclude", name));
    Recurrence recurrence =
        new Recurrence(
            cron,
            schedule.every(),
            Objects.requireNonNullElse(schedule.anchor(), Instant.EPOCH),
            Objects.requireNonNullElse(schedule.zone(), ZoneOffset.UTC),
            Objects.requireNonNullElse(schedule.gap(), Gap.SHIFT),
            Objects.requireNonNullElseGet(schedule.fold(), () -> Recurrence.fold(cron)),
            schedule.from(),
            schedule.until(),
            schedule.exclude());
    return new ScheduleDefinition(
        recurrence,
        schedule.calendars(),
        Objects.requireNonNullElse(schedule.missed(), Missed.LATEST),
        schedule.missedWithin(),
        Objects.requireNonNullElse(schedule.whileRunning(), WhileRunning.SKIP),
        Objects.requireNonNullElse(schedule.jitter(), Duration.ZERO),
        JobContent.of(Due.in(0))
            .params(schedule.params())
            .timeToRun(schedule.timeToRun())
            .retry(retry(schedule.retry()))
            .headers(schedule.headers())
            .tags(schedule.tags())
            .build());
  }

  private static @Nullable RetryPolicy retry(@Nullable String text) {
    try {
      return text == null ? null : RetryPolicy.parse(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("retry " + e.getMessage(), e);
    }
  }

  private static void onlyWithCron(String name, @Nullable Object value) {
    if (value != null) {
      throw new IllegalArgumentException(
          name + " belongs to cron: every counts exact time, which no clock is set over");
    }
  }

  /**
   * Makes the job of an occurrence.
   *
   * @param planned the instant, as the recurrence says it
   */
  public DelayQueueJob job(ScheduleName name, Instant planned) {
    String taskId = name.taskId(planned);
    return job(
        taskId,
        name.queue().taskType(),
        planned.toEpochMilli() + delay(name.queue() + "/" + taskId),
        job);
  }

  /** Makes a job that is due at once, besides those of the occurrences. */
  public DelayQueueJob jobAt(ScheduleName name, Instant now) {
    return job(name.taskId(now), name.queue().taskType(), now.toEpochMilli(), job);
  }

  /**
   * Checks that its calendars are there.
   *
   * @param require throws {@link IllegalArgumentException} for one that is not
   * @throws IllegalArgumentException whose message begins with {@code exclude}
   */
  public void requireCalendars(Consumer<String> require) {
    for (String calendar : calendars) {
      try {
        require.accept(calendar);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException("exclude names " + e.getMessage(), e);
      }
    }
  }

  /**
   * Checks what can only be checked at a moment.
   *
   * @throws IllegalArgumentException whose message begins with the name of the value that is wrong
   */
  public void requireSense(Instant now) {
    boolean spread = !jitter.isZero() && whileRunning != WhileRunning.START;
    List<Occurrence> next = recurrence.next(now, spread ? 3 : 1);
    if (next.isEmpty()) {
      throw new IllegalArgumentException(
          (recurrence.cron() == null ? "every" : "cron")
              + " never fires from now on: look at until, exclude and gap, and at the days and"
              + " months that it names");
    }
    if (next.size() == 3
        && Duration.between(next.get(0).at(), next.get(2).at()).compareTo(OFTEN) < 0) {
      next = recurrence.next(now, LOOKED_AT);
    }
    for (int i = 1; i < next.size() && spread; i++) {
      Duration distance = Duration.between(next.get(i - 1).at(), next.get(i).at());
      if (jitter.compareTo(distance) >= 0) {
        throw new IllegalArgumentException(
            "jitter must be less than "
                + distance
                + ", the time between two of the next runs, unless whileRunning is start: a job"
                + " that is not due yet counts as one that runs");
      }
    }
  }

  private static DelayQueueJob job(String taskId, String taskType, long due, JobContent content) {
    return DelayQueueJob.of(taskType)
        .taskId(taskId)
        .delayTime(due)
        .params(content.params())
        .timeToRun(content.timeToRun())
        .retry(content.retry())
        .headers(content.headers())
        .tags(content.tags())
        .build();
  }

  private long delay(String job) {
    if (jitter.isZero()) {
      return 0;
    }
    CRC32 hash = new CRC32();
    hash.update(job.getBytes(StandardCharsets.UTF_8));
    return hash.getValue() % (jitter.toMillis() + 1);
  }
}
