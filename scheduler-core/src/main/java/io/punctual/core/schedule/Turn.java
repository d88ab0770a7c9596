package io.punctual.core.schedule;

import io.punctual.schedule.Missed;
import io.punctual.schedule.WhileRunning;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The work for a schedule at an instant: the occurrences to submit, and the schedule's state after
 * that. It is bounded; the next turn does the rest.
 *
 * @param fire planned instants, in their order
 * @param next its state afterwards
 * @param lookAt when there is something to do again; null for never
 */
public record Turn(List<Instant> fire, ScheduleState next, @Nullable Instant lookAt) {

  /** An occurrence that is later than this is missed. */
  static final Duration ON_TIME = Duration.ofMinutes(1);

  /** It is looked first after this time whether a job has ended for which an occurrence waits. */
  static final Duration WAIT = Duration.ofSeconds(1);

  /** The same, at last: each time after a tenth of the time that it has waited. */
  static final Duration MAX_WAIT = Duration.ofMinutes(1);

  static final int MAX_STEPS = 1000;
  static final int MAX_FIRED = 100;

  /**
   * Decides.
   *
   * @param calendars gives the dates of a calendar as it is now
   * @param now the store's time
   * @param running whether the job of the state's last occurrence is still there; asked at most
   *     once
   */
  public static Turn of(
      ScheduleDefinition definition,
      Function<String, Set<LocalDate>> calendars,
      ScheduleState state,
      Instant now,
      BooleanSupplier running) {
    return new Decision(definition, calendars, state, now, running).turn();
  }

  /**
   * The same, of which only the first occurrences were submitted.
   *
   * @param count how many, at least one and not all
   * @param again when the others are to be tried
   */
  public Turn onlyFirst(int count, ScheduleState before, Instant again) {
    // Several fire only where nothing is skipped, and what was missed comes before them.
    return new Turn(
        fire.subList(0, count),
        new ScheduleState(
            next.version(),
            fire.get(count),
            next.pausedSince(),
            fire.get(count - 1),
            next.waiting(),
            before.fired() + count,
            next.skipped(),
            next.missed()),
        again);
  }

  private static final class Decision {

    private final ScheduleDefinition definition;
    private final Recurrence open;
    private final ScheduleState before;
    private final Instant now;
    private final BooleanSupplier asksRunning;
    private final List<Instant> fire = new ArrayList<>();
    private @Nullable Boolean running;
    private @Nullable Instant waiting;
    private int skipped;
    private long missed;

    Decision(
        ScheduleDefinition definition,
        Function<String, Set<LocalDate>> calendars,
        ScheduleState before,
        Instant now,
        BooleanSupplier asksRunning) {
      this.definition = definition;
      this.open = definition.resolved(calendars).recurrence();
      this.before = before;
      this.now = now;
      this.asksRunning = asksRunning;
      this.waiting = before.waiting();
    }

    Turn turn() {
      Instant wasWaiting = waiting;
      if (wasWaiting != null && !isRunning()) {
        waiting = null;
        fire.add(wasWaiting);
      }
      Instant planned = before.planned();
      if (planned != null && planned.isBefore(now.minus(ON_TIME))) {
        planned = behindMissed(planned);
      }
      for (int steps = 0;
          planned != null && !planned.isAfter(now) && steps < MAX_STEPS && fire.size() < MAX_FIRED;
          steps++) {
        Instant next = behind(planned);
        if (!open.excludes(planned)) {
          if (isMissed(planned, next)) {
            missed++;
          } else {
            offer(planned);
          }
        }
        planned = next;
      }
      return new Turn(
          List.copyOf(fire),
          new ScheduleState(
              before.version(),
              planned,
              before.pausedSince(),
              fire.isEmpty() ? before.last() : fire.get(fire.size() - 1),
              waiting,
              before.fired() + fire.size(),
              before.skipped() + skipped,
              before.missed() + missed),
          lookAt(planned));
    }

    /**
     * Returns the next instant that is due, else what is planned: that is planned without the
     * calendars, which may have changed when it is due.
     */
    private @Nullable Instant behind(Instant after) {
      Occurrence due = open.next(after);
      if (due != null && !due.at().isAfter(now)) {
        return due.at();
      }
      Occurrence following = definition.recurrence().next(now);
      return following == null ? null : following.at();
    }

    /** Passes over what is missed and does not run, without a look at each of an outage. */
    private @Nullable Instant behindMissed(Instant planned) {
      if (definition.missed() == Missed.ALL) {
        return planned;
      }
      Instant behind = behind(now.minus(ON_TIME).minusNanos(1));
      if (definition.missed() == Missed.LATEST && (behind == null || behind.isAfter(now))) {
        Occurrence latest = open.latest(planned, now);
        behind = latest == null ? planned : latest.at();
      }
      missed += open.count(planned, behind, MAX_STEPS);
      return behind;
    }

    private @Nullable Instant lookAt(@Nullable Instant planned) {
      if (waiting == null) {
        return planned;
      }
      Duration wait = Duration.between(waiting, now).dividedBy(10);
      if (wait.compareTo(WAIT) < 0) {
        wait = WAIT;
      } else if (wait.compareTo(MAX_WAIT) > 0) {
        wait = MAX_WAIT;
      }
      Instant again = now.plus(wait);
      return planned == null || planned.isAfter(again) ? again : planned;
    }

    private boolean isMissed(Instant planned, @Nullable Instant next) {
      Duration late = Duration.between(planned, now);
      if (late.compareTo(ON_TIME) <= 0) {
        return false;
      }
      Duration within = definition.missedWithin();
      if (within != null && late.compareTo(within) > 0) {
        return true;
      }
      return switch (definition.missed()) {
        case NONE -> true;
        case LATEST -> next != null && !next.isAfter(now);
        case ALL -> false;
      };
    }

    private void offer(Instant planned) {
      if (definition.whileRunning() == WhileRunning.START || !isRunning()) {
        fire.add(planned);
      } else if (definition.whileRunning() == WhileRunning.QUEUE && waiting == null) {
        waiting = planned;
      } else {
        skipped++;
      }
    }

    private boolean isRunning() {
      if (!fire.isEmpty()) {
        return true;
      }
      Boolean known = running;
      if (known == null) {
        known = before.last() != null && asksRunning.getAsBoolean();
        running = known;
      }
      return known;
    }
  }
}
