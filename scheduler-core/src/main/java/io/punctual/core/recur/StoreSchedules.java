package io.punctual.core.recur;

import io.punctual.DelayQueueJob;
import io.punctual.core.Schedules;
import io.punctual.core.Submit;
import io.punctual.core.calendar.Calendars;
import io.punctual.core.job.CorruptContentException;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.RandomNames;
import io.punctual.core.schedule.Occurrence;
import io.punctual.core.schedule.ScheduleCodec;
import io.punctual.core.schedule.ScheduleDefinition;
import io.punctual.core.schedule.ScheduleName;
import io.punctual.core.schedule.ScheduleState;
import io.punctual.core.store.ScheduleStore;
import io.punctual.core.store.ScheduleStore.Change;
import io.punctual.core.store.ScheduleStore.Found;
import io.punctual.core.store.ScheduleStore.Outcome;
import io.punctual.core.store.ScheduleStore.Stored;
import io.punctual.core.store.ScheduleStore.Written;
import io.punctual.core.store.StoreException;
import io.punctual.core.store.Submitted;
import io.punctual.core.store.durability.Reached;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Changes schedules: looks, decides, and writes if nothing has changed meanwhile. What is as it
 * should be is written again, so that a repeated call waits for what an earlier one did not see
 * confirmed.
 */
public final class StoreSchedules implements Schedules {

  /** How often a change is tried on a schedule that others change at the same time. */
  private static final int TRIES = 20;

  /** An occurrence that is due for no longer than this is not missed, and survives a change. */
  private static final Duration ON_TIME = Duration.ofMinutes(1);

  /** Runs that are asked for in the same millisecond. */
  private static final int MOST_AT_ONCE = 100;

  /** No more of params is submitted together, by and large. */
  static final int MAX_BYTES = 4 << 20;

  private final ScheduleStore store;
  private final Jobs jobs;
  private final Calendars calendars;
  private final Runnable changed;

  /**
   * @param changed called when a schedule may be due earlier than was known
   */
  public StoreSchedules(ScheduleStore store, Jobs jobs, Calendars calendars, Runnable changed) {
    this.store = store;
    this.jobs = jobs;
    this.calendars = calendars;
    this.changed = changed;
  }

  /**
   * A change of a schedule.
   *
   * @param state null to remove it
   */
  private record Decision(byte @Nullable [] definition, @Nullable ScheduleState state) {

    @Nullable Long look() {
      if (state == null || state.pausedSince() != null) {
        return null;
      }
      // What waits is looked at now.
      Instant next = state.waiting() != null ? state.waiting() : state.planned();
      return next == null ? null : Long.valueOf(next.toEpochMilli());
    }
  }

  /**
   * What became of it.
   *
   * @param undeclared as in {@link Stored}
   */
  private record Changed(
      Outcome outcome, @Nullable ScheduleState state, @Nullable Long undeclared, Reached reached) {}

  /**
   * Changes a schedule.
   *
   * @param decide gets the time and the schedule, null if there is none; decides null to leave it
   * @return null if it was left
   */
  private @Nullable Changed change(
      ScheduleName name,
      int max,
      BiFunction<Instant, @Nullable Stored, @Nullable Decision> decide) {
    for (int tries = 0; tries < TRIES; tries++) {
      Found found = store.find(name);
      Stored seen = found.schedule();
      Decision decision = decide.apply(Instant.ofEpochMilli(found.now()), seen);
      if (decision == null) {
        return null;
      }
      ScheduleState state = decision.state();
      Written written =
          store.write(
              List.of(
                  new Change(
                      name,
                      seen == null ? null : seen.state(),
                      decision.definition(),
                      state == null ? null : state.text(),
                      decision.look())),
              max,
              true);
      Outcome outcome = written.outcomes().get(0);
      if (outcome != Outcome.CHANGED) {
        changed.run();
        return new Changed(
            outcome,
            state,
            seen == null || decision.definition() != null ? null : seen.undeclared(),
            written.reached());
      }
    }
    throw new StoreException(
        StoreException.Kind.REFUSED,
        "the schedule " + name + " was changed by others " + TRIES + " times; try again");
  }

  @Override
  public PutAnswer put(ScheduleName name, ScheduleDefinition definition, int max) {
    return put(name, definition, max, false);
  }

  @Override
  public PutAnswer create(ScheduleName name, ScheduleDefinition definition, int max) {
    return put(name, definition, max, true);
  }

  private PutAnswer put(
      ScheduleName name, ScheduleDefinition definition, int max, boolean mustBeNew) {
    definition.requireCalendars(calendars::require);
    byte[] bytes = ScheduleCodec.encode(definition);
    Put[] outcome = new Put[1];
    Changed change =
        change(
            name,
            max,
            (now, seen) -> {
              if (seen != null && mustBeNew) {
                return null;
              }
              ScheduleState before = seen == null ? null : readable(seen);
              if (seen != null && before != null && Arrays.equals(seen.definition(), bytes)) {
                outcome[0] = Put.UNCHANGED;
                return new Decision(null, before);
              }
              resolved(definition).requireSense(now);
              outcome[0] = seen == null ? Put.CREATED : Put.REPLACED;
              String version = RandomNames.incarnation();
              if (seen == null || before == null) {
                // Another program wrote to one that is not readable: what was put counts.
                return new Decision(bytes, ScheduleState.begin(version, next(definition, now)));
              }
              return new Decision(
                  bytes,
                  before.redefined(
                      version,
                      hasSameTimes(seen, definition)
                          ? before.planned()
                          : next(definition, begin(before, now))));
            });
    if (change == null) {
      return new PutAnswer(Put.EXISTS, null);
    }
    if (change.outcome() == Outcome.FULL || change.state() == null) {
      return new PutAnswer(Put.FULL, null);
    }
    return new PutAnswer(
        outcome[0], view(name, definition, change.state(), change.undeclared(), change.reached()));
  }

  @Override
  public ScheduleDefinition resolved(ScheduleDefinition definition) {
    return definition.resolved(calendars::closed);
  }

  private static Origin origin(@Nullable Long undeclared) {
    if (undeclared == null) {
      return Origin.API;
    }
    return undeclared > ORPHANED_AFTER.toMillis() ? Origin.ORPHANED : Origin.CODE;
  }

  static @Nullable ScheduleState readable(Stored seen) {
    try {
      return ScheduleState.parse(seen.state());
    } catch (CorruptContentException e) {
      return null;
    }
  }

  private static boolean hasSameTimes(Stored seen, ScheduleDefinition definition) {
    try {
      ScheduleDefinition before = ScheduleCodec.decode(seen.definition());
      return before.recurrence().equals(definition.recurrence());
    } catch (CorruptContentException e) {
      return false;
    }
  }

  /** From when on a new definition counts. */
  private static Instant begin(ScheduleState before, Instant now) {
    Instant planned = before.planned();
    return planned != null
            && before.pausedSince() == null
            && !planned.isAfter(now)
            && planned.isAfter(now.minus(ON_TIME))
        ? planned.minusMillis(1)
        : now;
  }

  private static @Nullable Instant next(ScheduleDefinition definition, Instant after) {
    Occurrence next = definition.recurrence().next(after);
    return next == null ? null : next.at();
  }

  @Override
  public Optional<View> find(ScheduleName name) {
    return Optional.ofNullable(store.find(name).schedule()).map(this::view);
  }

  /**
   * Reads a schedule.
   *
   * @throws StoreException if another program wrote to it
   */
  private View view(Stored stored) {
    try {
      return view(
          stored.name(),
          ScheduleCodec.decode(stored.definition()),
          ScheduleState.parse(stored.state()),
          stored.undeclared(),
          Reached.REDIS);
    } catch (CorruptContentException e) {
      throw new StoreException(
          StoreException.Kind.CORRUPT,
          "what Redis has of the schedule "
              + stored.name()
              + " cannot be read ("
              + e.getMessage()
              + "); put it again, or delete it",
          e);
    }
  }

  private View view(
      ScheduleName name,
      ScheduleDefinition definition,
      ScheduleState state,
      @Nullable Long undeclared,
      Reached reached) {
    Instant next = state.pausedSince() == null ? state.planned() : null;
    if (next != null && !definition.calendars().isEmpty()) {
      try {
        next = next(resolved(definition), next.minusMillis(1));
      } catch (StoreException e) {
        // Its calendars cannot be read now: it is seen and paused all the same.
        next = state.planned();
      }
    }
    return new View(name, definition, state, next, origin(undeclared), reached);
  }

  @Override
  public Page list(
      @Nullable String application, @Nullable String taskType, @Nullable String last, int max) {
    ScheduleStore.Page page = store.list(application, taskType, last, max);
    List<View> views = new ArrayList<>();
    List<ScheduleName> damaged = new ArrayList<>();
    for (Stored stored : page.schedules()) {
      try {
        views.add(view(stored));
      } catch (StoreException e) {
        damaged.add(stored.name());
      }
    }
    return new Page(views, page.next(), damaged);
  }

  @Override
  public int declare(String application, List<ScheduleName> names) {
    return store.declare(new QueueName(application, "any").application(), names);
  }

  @Override
  public boolean delete(ScheduleName name) {
    return change(name, 0, (now, seen) -> seen == null ? null : new Decision(null, null)) != null;
  }

  @Override
  public Optional<View> pause(ScheduleName name, boolean paused) {
    View[] last = new View[1];
    Changed change =
        change(
            name,
            0,
            (now, seen) -> {
              if (seen == null) {
                return null;
              }
              View view = view(seen);
              last[0] = view;
              ScheduleState before = view.state();
              if ((before.pausedSince() != null) == paused) {
                return new Decision(null, before);
              }
              return new Decision(
                  null, paused ? before.paused(now) : before.resumed(next(view.definition(), now)));
            });
    return change == null || change.state() == null
        ? Optional.empty()
        : Optional.of(
            view(
                name, last[0].definition(), change.state(), change.undeclared(), change.reached()));
  }

  @Override
  public Optional<Run> run(ScheduleName name) {
    Found found = store.find(name);
    return Optional.ofNullable(found.schedule())
        .map(this::view)
        .map(schedule -> run(schedule, Instant.ofEpochMilli(found.now())));
  }

  /** Each call makes a new job. If another job has this millisecond, it takes the next one. */
  private Run run(View schedule, Instant now) {
    ScheduleName name = schedule.name();
    Instant at = now;
    Submit answer = join(submit(jobs, name, schedule.definition().jobAt(name, at)));
    for (int i = 0; i < MOST_AT_ONCE && answer.kind() != Submitted.Kind.CREATED; i++) {
      at = at.plusMillis(1);
      answer = join(submit(jobs, name, schedule.definition().jobAt(name, at)));
    }
    return new Run(at, name.taskId(at), answer);
  }

  @Override
  public Optional<Backfill> backfill(ScheduleName name, Instant from, Instant until, int max) {
    return find(name).map(schedule -> backfill(schedule, from, until, max));
  }

  private Backfill backfill(View schedule, Instant from, Instant until, int max) {
    ScheduleDefinition definition = schedule.definition();
    List<Instant> planned =
        resolved(definition).recurrence().between(from, until, max + 1).stream()
            .map(Occurrence::at)
            .toList();
    int size = Math.max(1, definition.job().params().length());
    int count = Math.min(planned.size(), Math.min(max, Math.max(1, MAX_BYTES / size)));
    List<CompletableFuture<Submit>> answers =
        planned.stream()
            .limit(count)
            .map(at -> submit(jobs, schedule.name(), definition.job(schedule.name(), at)))
            .toList();
    List<Run> runs = new ArrayList<>();
    try {
      for (CompletableFuture<Submit> answer : answers) {
        Instant at = planned.get(runs.size());
        runs.add(new Run(at, schedule.name().taskId(at), join(answer)));
      }
    } catch (StoreException e) {
      if (runs.isEmpty()) {
        throw e;
      }
    }
    return new Backfill(runs, runs.size() < planned.size() ? planned.get(runs.size()) : null);
  }

  /** Submits a job of a schedule; what goes wrong is in the answer. */
  static CompletableFuture<Submit> submit(Jobs jobs, ScheduleName name, DelayQueueJob job) {
    try {
      return jobs.submit(name.queue().application(), job, submitter(name));
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Waits for the answer to a submit, and throws what went wrong as the store says it. */
  static Submit join(CompletableFuture<Submit> answer) {
    try {
      return answer.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof StoreException store) {
        throw store;
      }
      throw e;
    }
  }

  /** Who submits the jobs of a schedule, for people. */
  private static String submitter(ScheduleName name) {
    return "schedule/" + name.id();
  }

  @Override
  public List<Occurrence> preview(ScheduleDefinition definition, @Nullable Instant from, int max) {
    Instant begin =
        from != null
            ? from
            : Instant.ofEpochMilli(
                store.find(new ScheduleName(new QueueName("preview", "preview"), "preview")).now());
    return resolved(definition).recurrence().next(begin.minusNanos(1), max);
  }
}
