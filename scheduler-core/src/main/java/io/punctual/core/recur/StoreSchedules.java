package io.punctual.core.recur;

import io.punctual.core.Schedules;
import io.punctual.core.Submit;
import io.punctual.core.job.CorruptContentException;
import io.punctual.core.job.QueueName;
import io.punctual.core.job.RandomNames;
import io.punctual.core.schedule.Occurrence;
import io.punctual.core.schedule.Recurrence;
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

/** Changes schedules: looks, decides, and writes if nothing has changed meanwhile. */
public final class StoreSchedules implements Schedules {

  /** How often a change is tried on a schedule that others change at the same time. */
  private static final int TRIES = 20;

  /** An occurrence that is due for no longer than this is not missed, and survives a change. */
  private static final Duration ON_TIME = Duration.ofMinutes(1);

  private final ScheduleStore store;
  private final Jobs jobs;
  private final Runnable changed;

  /**
   * @param changed called when a schedule may be due earlier than was known
   */
  public StoreSchedules(ScheduleStore store, Jobs jobs, Runnable changed) {
    this.store = store;
    this.jobs = jobs;
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

  private record Changed(Outcome outcome, @Nullable ScheduleState state, Reached reached) {}

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
        return new Changed(outcome, state, written.reached());
      }
    }
    throw new StoreException(
        StoreException.Kind.REFUSED,
        "the schedule " + name + " was changed by others " + TRIES + " times; try again");
  }

  @Override
  public PutAnswer put(ScheduleName name, ScheduleDefinition definition, int max) {
    byte[] bytes = ScheduleCodec.encode(definition);
    Put[] outcome = new Put[1];
    ScheduleState[] same = new ScheduleState[1];
    Changed change =
        change(
            name,
            max,
            (now, seen) -> {
              String version = RandomNames.incarnation();
              if (seen == null) {
                outcome[0] = Put.CREATED;
                return new Decision(bytes, ScheduleState.begin(version, next(definition, now)));
              }
              ScheduleState before = readable(seen);
              if (before == null) {
                // Another program wrote to it: what was put counts.
                outcome[0] = Put.REPLACED;
                return new Decision(bytes, ScheduleState.begin(version, next(definition, now)));
              }
              if (Arrays.equals(seen.definition(), bytes)) {
                outcome[0] = Put.UNCHANGED;
                same[0] = before;
                return null;
              }
              outcome[0] = Put.REPLACED;
              return new Decision(
                  bytes, before.redefined(version, next(definition, begin(before, now))));
            });
    if (change == null) {
      return new PutAnswer(outcome[0], new View(name, definition, same[0], Reached.REDIS));
    } else if (change.outcome() == Outcome.FULL || change.state() == null) {
      return new PutAnswer(Put.FULL, null);
    }
    return new PutAnswer(outcome[0], new View(name, definition, change.state(), change.reached()));
  }

  private static @Nullable ScheduleState readable(Stored seen) {
    try {
      return ScheduleState.parse(seen.state());
    } catch (CorruptContentException e) {
      return null;
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
    return Optional.ofNullable(store.find(name).schedule()).map(StoreSchedules::view);
  }

  private static View view(Stored stored) {
    return new View(
        stored.name(),
        ScheduleCodec.decode(stored.definition()),
        ScheduleState.parse(stored.state()),
        Reached.REDIS);
  }

  @Override
  public Page list(
      @Nullable String application, @Nullable String taskType, @Nullable String last, int max) {
    ScheduleStore.Page page = store.list(application, taskType, last, max);
    return new Page(page.schedules().stream().map(StoreSchedules::view).toList(), page.next());
  }

  @Override
  public boolean delete(ScheduleName name) {
    return change(name, 0, (now, seen) -> seen == null ? null : new Decision(null, null)) != null;
  }

  @Override
  public Optional<View> pause(ScheduleName name, boolean paused) {
    Stored[] last = new Stored[1];
    Changed change =
        change(
            name,
            0,
            (now, seen) -> {
              last[0] = seen;
              ScheduleState before = seen == null ? null : ScheduleState.parse(seen.state());
              if (before == null || (before.pausedSince() != null) == paused) {
                return null;
              }
              return new Decision(
                  null,
                  paused
                      ? before.paused(now)
                      : before.resumed(next(ScheduleCodec.decode(seen.definition()), now)));
            });
    if (last[0] == null) {
      return Optional.empty();
    }
    View seen = view(last[0]);
    return Optional.of(
        change == null || change.state() == null
            ? seen
            : new View(name, seen.definition(), change.state(), change.reached()));
  }

  @Override
  public Optional<Run> run(ScheduleName name) {
    Found found = store.find(name);
    Stored seen = found.schedule();
    if (seen == null) {
      return Optional.empty();
    }
    Instant now = Instant.ofEpochMilli(found.now());
    Run run = submit(view(seen), List.of(now)).get(0);
    var unused =
        change(
            name,
            0,
            (when, stored) ->
                stored == null
                    ? null
                    : new Decision(null, ScheduleState.parse(stored.state()).ran(now)));
    return Optional.of(run);
  }

  @Override
  public Optional<List<Run>> backfill(ScheduleName name, Instant from, Instant until, int max) {
    return find(name)
        .map(
            schedule -> {
              List<Instant> planned =
                  schedule.definition().recurrence().next(from.minusNanos(1), max).stream()
                      .map(Occurrence::at)
                      .takeWhile(at -> !at.isAfter(until))
                      .toList();
              return submit(schedule, planned);
            });
  }

  private List<Run> submit(View schedule, List<Instant> planned) {
    List<CompletableFuture<Submit>> answers = new ArrayList<>();
    for (Instant at : planned) {
      answers.add(
          jobs.submit(
              schedule.name().queue().application(),
              schedule.definition().job(schedule.name(), at),
              submitter(schedule.name())));
    }
    List<Run> runs = new ArrayList<>();
    for (int i = 0; i < planned.size(); i++) {
      runs.add(
          new Run(planned.get(i), schedule.name().taskId(planned.get(i)), join(answers.get(i))));
    }
    return runs;
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
  static String submitter(ScheduleName name) {
    return "schedule/" + name.id();
  }

  @Override
  public List<Occurrence> preview(Recurrence recurrence, @Nullable Instant from, int max) {
    Instant begin =
        from != null
            ? from
            : Instant.ofEpochMilli(
                store.find(new ScheduleName(new QueueName("preview", "preview"), "preview")).now());
    return recurrence.next(begin.minusNanos(1), max);
  }
}
