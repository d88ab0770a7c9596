package io.punctual.server.jobs;

import io.punctual.ErrorCode;
import io.punctual.core.Engine;
import io.punctual.core.Schedules;
import io.punctual.core.schedule.Occurrence;
import io.punctual.core.schedule.Recurrence;
import io.punctual.core.schedule.ScheduleDefinition;
import io.punctual.core.schedule.ScheduleName;
import io.punctual.core.schedule.ScheduleState;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.query.JobView;
import io.punctual.server.audit.AuditLog;
import io.punctual.server.engine.EngineProperties;
import io.punctual.server.problem.ApiException;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Creates, shows and changes recurring schedules, and records the changes in the audit. */
@Component
public class ScheduleService {

  /** Most jobs of one backfill. */
  public static final int MAX_BACKFILL = 1000;

  private final Engine engine;
  private final AuditLog audit;
  private final ApplicationQuotas quotas;
  private final int max;

  ScheduleService(
      Engine engine, AuditLog audit, ApplicationQuotas quotas, EngineProperties properties) {
    this.engine = engine;
    this.audit = audit;
    this.quotas = quotas;
    this.max = properties.maxSchedules();
  }

  /**
   * Returns the next instants at which a schedule fires; none if it has ended.
   *
   * @param from epoch ms, the first moment that counts; null for now
   * @param count at least one
   */
  public List<Occurrence> next(ScheduleDefinition definition, @Nullable Long from, int count) {
    return engine
        .schedules()
        .preview(definition, from == null ? null : Instant.ofEpochMilli(from), count);
  }

  /**
   * Returns the next instants at which a schedule would fire.
   *
   * @param from epoch ms, the first moment that counts; null for now
   * @param count at least one
   * @throws ApiException 400 if it never fires from then on
   * @throws IllegalArgumentException if its jitter is too long; the message begins with the field
   */
  public List<Occurrence> preview(ScheduleDefinition definition, @Nullable Long from, int count) {
    definition.requireCalendars(engine.calendars()::require);
    List<Occurrence> next = next(definition, from, count);
    if (next.isEmpty()) {
      throw ApiException.invalid(
          definition.recurrence().cron() == null ? "every" : "cron",
          "never fires from now on, or from the instant that was given: look at until, exclude and"
              + " gap, and at the days and months that it names");
    }
    engine.schedules().resolved(definition).requireSense(next.get(0).at().minusMillis(1));
    return next;
  }

  /**
   * Creates a schedule, as {@link #put}.
   *
   * @throws ApiException 412 if there is one of that name
   */
  public Schedules.PutAnswer create(ScheduleName name, ScheduleDefinition definition) {
    return noted(name, definition, engine.schedules().create(name, definition, max));
  }

  /**
   * Notes which schedules an instance of an application has in its code.
   *
   * @param names all of them
   * @return how many of them there are
   */
  public int declare(String application, List<ScheduleName> names) {
    return engine.schedules().declare(application, names);
  }

  /**
   * A planned instant that has passed.
   *
   * @param job null if it has none: it ended and is forgotten, or there never was one
   * @param unread whether the job could not be read; then {@code job} is null
   */
  public record Occurred(Instant planned, String taskId, @Nullable JobView job, boolean unread) {}

  /**
   * Returns the last planned instants that were dealt with, the latest first. Those on dates that a
   * calendar closes now are among them only if their jobs are there.
   */
  public List<Occurred> occurred(Schedules.View schedule, int count) {
    ScheduleState state = schedule.state();
    Instant planned = state.planned();
    Instant end = planned == null ? state.last() : planned.minusMillis(1);
    if (end == null) {
      return List.of();
    }
    long dealtWith = state.fired() + state.skipped() + state.missed();
    int most = (int) Math.min(count, dealtWith);
    List<Instant> open = recurrence(schedule).before(end, most);
    SortedSet<Instant> all = new TreeSet<>(Comparator.reverseOrder());
    all.addAll(open);
    all.addAll(schedule.definition().recurrence().before(end, most));
    return all.stream()
        .limit(most)
        .map(at -> occurred(schedule.name(), at))
        .filter(run -> run.job() != null || open.contains(run.planned()))
        .toList();
  }

  /** Returns the planned instant whose job was submitted last; null before the first one. */
  public @Nullable Occurred last(Schedules.View schedule) {
    Instant last = schedule.state().last();
    return last == null ? null : occurred(schedule.name(), last);
  }

  private Recurrence recurrence(Schedules.View schedule) {
    return engine.schedules().resolved(schedule.definition()).recurrence();
  }

  private Occurred occurred(ScheduleName name, Instant at) {
    String taskId = name.taskId(at);
    try {
      return new Occurred(at, taskId, engine.find(name.queue(), taskId).orElse(null), false);
    } catch (StoreException e) {
      if (e.kind() != StoreException.Kind.CORRUPT) {
        throw e;
      }
      // Damage in one queue must not hide all schedules.
      return new Occurred(at, taskId, null, true);
    }
  }

  /**
   * Creates or replaces a schedule.
   *
   * @throws IllegalArgumentException if it never fires from now on, or its jitter is too long; the
   *     message begins with the field
   * @throws ApiException 400 if the application has too many
   */
  public Schedules.PutAnswer put(ScheduleName name, ScheduleDefinition definition) {
    return noted(name, definition, engine.schedules().put(name, definition, max));
  }

  private Schedules.PutAnswer noted(
      ScheduleName name, ScheduleDefinition definition, Schedules.PutAnswer answer) {
    switch (answer.outcome()) {
      case EXISTS ->
          throw ApiException.of(
              ErrorCode.CHANGED,
              "id",
              "is the id of an existing schedule: edit that schedule, or choose another id");
      case FULL ->
          throw ApiException.invalid(
              "id",
              "is new, and "
                  + name.queue().application()
                  + " has "
                  + max
                  + " schedules, which is the most: delete one that is not needed");
      case CREATED -> audit.did("create schedule", name::toString, null, text(definition));
      case REPLACED -> audit.did("replace schedule", name::toString, null, text(definition));
      case UNCHANGED -> {
        return answer;
      }
    }
    return answer;
  }

  private static String text(ScheduleDefinition definition) {
    Recurrence recurrence = definition.recurrence();
    return recurrence.cron() == null
        ? "every " + recurrence.every()
        : recurrence.cron() + " in " + recurrence.zone().getId();
  }

  /**
   * Returns a schedule.
   *
   * @throws ApiException 404
   */
  public Schedules.View find(ScheduleName name) {
    return readable(() -> engine.schedules().find(name)).orElseThrow(() -> unknown(name));
  }

  private static <T> T readable(Supplier<T> call) {
    try {
      return call.get();
    } catch (StoreException e) {
      if (e.kind() == StoreException.Kind.CORRUPT) {
        throw ApiException.of(ErrorCode.INTERNAL, String.valueOf(e.getMessage()));
      }
      throw e;
    }
  }

  /**
   * Lists schedules by application, task type and id.
   *
   * @param application null for all
   * @param taskType null for all of the application
   * @param cursor of the page before; null to begin
   * @throws ApiException 400 for a task type of no application, or another list's cursor
   */
  public Schedules.Page list(
      @Nullable String application, @Nullable String taskType, @Nullable String cursor, int count) {
    if (taskType != null && application == null) {
      throw ApiException.invalid("application", "is missing: a task type needs its application");
    }
    String name = application == null ? null : JobRef.queue(application, "any").application();
    try {
      return engine.schedules().list(name, taskType, cursor, count);
    } catch (IllegalArgumentException e) {
      throw ApiException.invalid(
          "cursor", "belongs to another list: take nextCursor of an answer to the same query");
    }
  }

  /**
   * Deletes a schedule. Its jobs stay.
   *
   * @throws ApiException 404
   */
  public void delete(ScheduleName name) {
    String before = described(name);
    if (!engine.schedules().delete(name)) {
      throw unknown(name);
    }
    audit.did("delete schedule", name::toString, before, null);
  }

  private @Nullable String described(ScheduleName name) {
    try {
      return engine.schedules().find(name).map(view -> text(view.definition())).orElse(null);
    } catch (StoreException e) {
      if (e.kind() == StoreException.Kind.CORRUPT) {
        return "unreadable";
      }
      throw e;
    }
  }

  /**
   * Pauses or resumes a schedule.
   *
   * @throws ApiException 404
   */
  public Schedules.View pause(ScheduleName name, boolean paused) {
    Schedules.View view =
        readable(() -> engine.schedules().pause(name, paused)).orElseThrow(() -> unknown(name));
    audit.did(paused ? "pause schedule" : "resume schedule", name::toString, null, null);
    return view;
  }

  /**
   * Submits a job of the schedule now.
   *
   * @throws ApiException 404; 429 if the application may not submit it now
   */
  public Schedules.Run run(ScheduleName name) {
    quotas.submit(name.queue(), size(find(name)));
    Schedules.Run run = engine.schedules().run(name).orElseThrow(() -> unknown(name));
    audit.did("run schedule", name::toString, null, run.taskId());
    return run;
  }

  /**
   * Returns the planned instants of which a backfill would submit the jobs.
   *
   * @param from the first instant that counts
   * @param until the last one that counts
   * @throws ApiException 400 if the last is before the first
   */
  public List<Occurrence> planned(Schedules.View schedule, Instant from, Instant until, int count) {
    if (until.isBefore(from)) {
      throw ApiException.invalid("until", "must not be before from");
    }
    return recurrence(schedule).between(from, until, count);
  }

  /**
   * Submits the jobs of planned instants between two others, as many as the application may submit
   * now.
   *
   * @throws ApiException 400 if the last is before the first; 404; 429 if it may submit none
   */
  public Schedules.Backfill backfill(ScheduleName name, Instant from, Instant until, int count) {
    Schedules.View schedule = find(name);
    int planned = planned(schedule, from, until, count).size();
    int admitted = 0;
    try {
      while (admitted < planned) {
        quotas.submit(name.queue(), size(schedule));
        admitted++;
      }
    } catch (ApiException e) {
      if (admitted == 0) {
        throw e;
      }
    }
    Schedules.Backfill done =
        engine
            .schedules()
            .backfill(name, from, until, Math.max(1, admitted))
            .orElseThrow(() -> unknown(name));
    audit.did("backfill schedule", name::toString, null, done.runs().size() + " jobs");
    return done;
  }

  private static int size(Schedules.View schedule) {
    return schedule.definition().job().params().length();
  }

  private static ApiException unknown(ScheduleName name) {
    return ApiException.of(
        ErrorCode.NOT_FOUND, "no schedule " + name + " is known; it never was, or was deleted");
  }
}
