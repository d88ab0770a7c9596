package io.punctual.server.jobs;

import io.punctual.ErrorCode;
import io.punctual.core.Engine;
import io.punctual.core.Schedules;
import io.punctual.core.schedule.Occurrence;
import io.punctual.core.schedule.Recurrence;
import io.punctual.core.schedule.ScheduleDefinition;
import io.punctual.core.schedule.ScheduleName;
import io.punctual.core.store.StoreException;
import io.punctual.server.audit.AuditLog;
import io.punctual.server.engine.EngineProperties;
import io.punctual.server.problem.ApiException;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Puts, shows and changes recurring schedules, and records it in the audit. */
@Component
public class ScheduleService {

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
  public List<Occurrence> next(Recurrence recurrence, @Nullable Long from, int count) {
    return engine
        .schedules()
        .preview(recurrence, from == null ? null : Instant.ofEpochMilli(from), count);
  }

  /**
   * Returns the next instants at which a schedule would fire.
   *
   * @param from epoch ms, the first moment that counts; null for now
   * @param count at least one
   * @throws ApiException 400 if it never fires from then on
   */
  public List<Occurrence> preview(Recurrence recurrence, @Nullable Long from, int count) {
    List<Occurrence> next = next(recurrence, from, count);
    if (next.isEmpty()) {
      throw ApiException.invalid(
          recurrence.cron() == null ? "every" : "cron",
          "never fires from now on, or from the instant that was given: look at until, exclude and"
              + " gap, and at the days and months that it names");
    }
    return next;
  }

  /**
   * Creates or replaces a schedule.
   *
   * @throws IllegalArgumentException if it never fires from now on, or its jitter is too long; the
   *     message begins with the field
   * @throws ApiException 400 if the application has too many
   */
  public Schedules.PutAnswer put(ScheduleName name, ScheduleDefinition definition) {
    Schedules.PutAnswer answer = engine.schedules().put(name, definition, max);
    switch (answer.outcome()) {
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
   */
  public Schedules.Page list(
      @Nullable String application, @Nullable String taskType, @Nullable String cursor, int count) {
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
    if (!engine.schedules().delete(name)) {
      throw unknown(name);
    }
    audit.did("delete schedule", name::toString, null, null);
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
   * Submits the jobs of planned instants between two others, as many as the application may submit
   * now.
   *
   * @throws ApiException 404; 429 if it may submit none
   */
  public Schedules.Backfill backfill(ScheduleName name, Instant from, Instant until, int count) {
    Schedules.View schedule = find(name);
    int planned = schedule.definition().recurrence().between(from, until, count).size();
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
