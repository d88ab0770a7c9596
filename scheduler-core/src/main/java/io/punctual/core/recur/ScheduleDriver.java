package io.punctual.core.recur;

import io.punctual.core.QueueListener;
import io.punctual.core.Submit;
import io.punctual.core.calendar.Calendars;
import io.punctual.core.job.CorruptContentException;
import io.punctual.core.job.JobState;
import io.punctual.core.job.QueueName;
import io.punctual.core.schedule.ScheduleCodec;
import io.punctual.core.schedule.ScheduleDefinition;
import io.punctual.core.schedule.ScheduleName;
import io.punctual.core.schedule.ScheduleState;
import io.punctual.core.schedule.Turn;
import io.punctual.core.store.ScheduleStore;
import io.punctual.core.store.ScheduleStore.Change;
import io.punctual.core.store.ScheduleStore.Due;
import io.punctual.core.store.ScheduleStore.Outcome;
import io.punctual.core.store.ScheduleStore.Stored;
import io.punctual.core.store.StoreException;
import io.punctual.core.wake.WakeSignal;
import io.punctual.core.work.Backoff;
import io.punctual.core.work.Context;
import io.punctual.core.work.Defects;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fires schedules: takes those that are due, submits the jobs of their planned instants, and then
 * moves them on. A crash in between submits the same ids again, which are no new jobs.
 */
public final class ScheduleDriver {

  private static final Logger log = LoggerFactory.getLogger(ScheduleDriver.class);
  private static final String DUTY = "Firing of schedules";

  /** How long others leave a schedule alone that was taken. */
  private static final Duration CLAIM = Duration.ofSeconds(10);

  /** Longest sleep: a schedule that another engine changed is seen after this time. */
  private static final Duration LOOK = Duration.ofSeconds(1);

  private static final int TRIES = 5;

  /** How many are moved on together: what a crash submits again. */
  private static final int CHUNK = 20;

  private static final Duration WARN = Duration.ofSeconds(10);

  private final ScheduleStore store;
  private final Jobs jobs;
  private final Calendars calendars;
  private final Function<QueueName, QueueListener> listeners;
  private final WakeSignal signal = new WakeSignal();
  private final Backoff backoff = Backoff.ofStore();
  // Those that were reported.
  private final Set<ScheduleName> unreadable = ConcurrentHashMap.newKeySet();
  private @Nullable Life life;
  // Of the thread that takes turns.
  private @Nullable Long warnedAt;

  /** A run of the driver, from a start to a stop. */
  private static final class Life {
    private volatile boolean over;
  }

  /**
   * @param listeners are told of what fires
   */
  public ScheduleDriver(
      ScheduleStore store,
      Jobs jobs,
      Calendars calendars,
      Function<QueueName, QueueListener> listeners) {
    this.store = store;
    this.jobs = jobs;
    this.calendars = calendars;
    this.listeners = listeners;
  }

  /** Starts, unless it runs. */
  public synchronized void start(Context context) {
    if (life == null) {
      Life begun = new Life();
      life = begun;
      var unused = context.threads().start("punctual-schedules", () -> run(begun, context));
    }
  }

  /** Begins no further turn. */
  public synchronized void stop() {
    if (life != null) {
      life.over = true;
      life = null;
      signal.ask();
    }
  }

  /** A schedule may be due earlier than was known. */
  public void wake() {
    signal.ask();
  }

  private void run(Life begun, Context context) {
    while (!begun.over) {
      var unused = signal.take();
      signal.sleep(sleep(context.defects()));
    }
  }

  private long sleep(Defects defects) {
    try {
      long millis = turn(System::nanoTime);
      defects.worked(DUTY);
      backoff.reset();
      return TimeUnit.MILLISECONDS.toNanos(millis);
    } catch (StoreException e) {
      log.debug("Schedules wait for Redis: {}", e.getMessage());
    } catch (RuntimeException | Error e) {
      defects.met(DUTY, e);
    }
    return backoff.next(ThreadLocalRandom.current());
  }

  /**
   * What is to be done for one schedule.
   *
   * @param answers to the submits of its occurrences, or of the first of them
   */
  private record Work(
      Stored stored,
      ScheduleState before,
      Turn turn,
      List<CompletableFuture<Submit>> answers,
      int bytes) {

    Work onlyFirst(int count, Instant again) {
      return new Work(stored, before, turn.onlyFirst(count, before, again), answers, bytes);
    }
  }

  /**
   * Fires what is due, at most {@value ScheduleStore#MAX} schedules.
   *
   * @param ticks monotonic ns
   * @return ms until the next turn
   * @throws StoreException if the store was not reached or refused; what was taken is taken again
   */
  public long turn(LongSupplier ticks) {
    long sent = ticks.getAsLong();
    Due due = store.due(ScheduleStore.MAX, CLAIM);
    Instant now = Instant.ofEpochMilli(due.now());
    List<Stored> shuffled = new ArrayList<>(due.schedules());
    // One that is slow to fail must not be the first each time.
    Collections.shuffle(shuffled, ThreadLocalRandom.current());
    Deque<Stored> left = new ArrayDeque<>(shuffled);
    Failures failures = new Failures();
    // What was taken too long ago may have been fired by others, and forgotten.
    BooleanSupplier inTime = () -> ticks.getAsLong() - sent <= CLAIM.toNanos() / 2;
    while (!left.isEmpty() && inTime.getAsBoolean()) {
      write(submitted(begin(left, now, inTime, failures), now, failures));
    }
    failures.warn(ticks.getAsLong());
    Long look = due.next();
    if (!due.schedules().isEmpty()) {
      return 0;
    }
    return look == null
        ? LOOK.toMillis()
        : Math.max(0, Math.min(LOOK.toMillis(), look - due.now()));
  }

  /** What went wrong in a turn with some schedules, which are left for another claim. */
  private final class Failures {

    private int count;
    private @Nullable String first;

    void add(ScheduleName name, RuntimeException e) {
      count++;
      if (first == null) {
        first = name + ": " + (e instanceof StoreException ? e.getMessage() : e);
      }
      log.debug("The schedule {} did not fire", name, e);
    }

    void warn(long now) {
      Long last = warnedAt;
      if (count > 0 && (last == null || now - last >= WARN.toNanos())) {
        warnedAt = now;
        log.warn(
            "Jobs of {} schedules could not be submitted, among them {}. They are tried again"
                + " within {} s.",
            count,
            first,
            CLAIM.toSeconds());
      }
    }
  }

  /** Begins with a few of them. */
  private List<Work> begin(
      Deque<Stored> left, Instant now, BooleanSupplier inTime, Failures failures) {
    List<Work> begun = new ArrayList<>();
    int bytes = 0;
    while (!left.isEmpty()
        && begun.size() < CHUNK
        && bytes < StoreSchedules.MAX_BYTES
        && inTime.getAsBoolean()) {
      Stored stored = left.remove();
      try {
        Work work = begin(stored, now, bytes);
        if (work != null) {
          begun.add(work);
          bytes += work.bytes();
        }
      } catch (RuntimeException e) {
        failures.add(stored.name(), e);
      }
    }
    return begun;
  }

  private @Nullable Work begin(Stored stored, Instant now, int bytesBefore) {
    ScheduleName name = stored.name();
    try {
      ScheduleDefinition definition = ScheduleCodec.decode(stored.definition());
      ScheduleState state = ScheduleState.parse(stored.state());
      if (state.pausedSince() != null) {
        return null;
      }
      Turn turn = Turn.of(definition, calendars::closed, state, now, () -> isRunning(name, state));
      int size = definition.job().params().length();
      int bytes = 0;
      List<CompletableFuture<Submit>> answers = new ArrayList<>();
      for (Instant at : turn.fire()) {
        if (bytesBefore + bytes >= StoreSchedules.MAX_BYTES) {
          break;
        }
        answers.add(StoreSchedules.submit(jobs, name, definition.job(name, at)));
        bytes += size;
      }
      return new Work(stored, state, turn, answers, bytes);
    } catch (CorruptContentException e) {
      if (unreadable.add(name)) {
        log.error(
            "The schedule {} does not fire: what Redis has of it cannot be read ({}). Put it again,"
                + " or delete it.",
            name,
            e.getMessage());
      }
      return null;
    }
  }

  private boolean isRunning(ScheduleName name, ScheduleState state) {
    Instant last = state.last();
    return last != null
        && jobs.find(name.queue(), name.taskId(last))
            .map(job -> job.state() == JobState.DELAYED || job.state() == JobState.RESERVED)
            .orElse(false);
  }

  /** Returns those of which the store has taken jobs, if any were due; the others are left. */
  private static List<Work> submitted(List<Work> begun, Instant now, Failures failures) {
    List<Work> done = new ArrayList<>();
    for (Work work : begun) {
      int taken = 0;
      Instant again = now;
      try {
        for (CompletableFuture<Submit> answer : work.answers()) {
          var unused = StoreSchedules.join(answer);
          taken++;
        }
      } catch (RuntimeException e) {
        failures.add(work.stored().name(), e);
        again = now.plus(CLAIM);
      }
      if (taken == work.turn().fire().size()) {
        done.add(work);
      } else if (taken > 0) {
        done.add(work.onlyFirst(taken, again));
      }
    }
    return done;
  }

  private void write(List<Work> done) {
    if (done.isEmpty()) {
      return;
    }
    List<Change> changes =
        done.stream().map(work -> change(work, work.turn().next(), work.stored().state())).toList();
    List<Outcome> outcomes = store.write(changes, 0, false).outcomes();
    for (int i = 0; i < done.size(); i++) {
      if (outcomes.get(i) == Outcome.DONE || writeAgain(done.get(i))) {
        tell(done.get(i));
      }
    }
  }

  private static Change change(Work work, ScheduleState state, String expected) {
    Instant look = work.turn().lookAt();
    return new Change(
        work.stored().name(),
        expected,
        null,
        state.text(),
        look == null ? null : Long.valueOf(look.toEpochMilli()));
  }

  /** The schedule was changed meanwhile: unless that moved it on as well, it still is to be. */
  private boolean writeAgain(Work work) {
    for (int tries = 0; tries < TRIES; tries++) {
      Stored found = store.find(work.stored().name()).schedule();
      if (found == null) {
        return false;
      }
      ScheduleState now = StoreSchedules.readable(found);
      ScheduleState before = work.before();
      if (now == null
          || !now.version().equals(before.version())
          || now.pausedSince() != null
          || !Objects.equals(now.planned(), before.planned())
          || !Objects.equals(now.waiting(), before.waiting())) {
        return false;
      }
      ScheduleState next = work.turn().next();
      ScheduleState merged =
          new ScheduleState(
              now.version(),
              next.planned(),
              null,
              later(now.last(), next.last()),
              next.waiting(),
              next.fired(),
              next.skipped(),
              next.missed());
      if (store.write(List.of(change(work, merged, found.state())), 0, false).outcomes().get(0)
          == Outcome.DONE) {
        return true;
      }
    }
    return false;
  }

  private static @Nullable Instant later(@Nullable Instant one, @Nullable Instant other) {
    if (one == null || other == null) {
      return one == null ? other : one;
    }
    return one.isAfter(other) ? one : other;
  }

  private void tell(Work work) {
    ScheduleState before = work.before();
    ScheduleState next = work.turn().next();
    listeners
        .apply(work.stored().name().queue())
        .recurred(
            (int) (next.fired() - before.fired()),
            (int) (next.skipped() - before.skipped()),
            (int) (next.missed() - before.missed()));
  }
}
