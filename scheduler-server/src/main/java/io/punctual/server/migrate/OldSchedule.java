package io.punctual.server.migrate;

import io.punctual.core.schedule.Occurrence;
import io.punctual.core.schedule.Recurrence;
import io.punctual.core.schedule.ScheduleDefinition;
import io.punctual.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A recurring job as another library kept it, as far as Punctual takes it over.
 *
 * @param schedule without {@code from}; its headers name the old job, so that a schedule in
 *     Punctual shows whether it was made from it
 * @param first the first planned instant that the old side has not run
 * @param original what the library has in place of the cron expression, for people
 */
record OldSchedule(Schedule schedule, Instant first, String original) implements OldWork {

  /** The schedule in Punctual begins that much later, or later: until then its PUT is answered. */
  private static final Duration LEAD = Duration.ofMinutes(1);

  private static final int MAX_GAP = 10_000;

  /**
   * Checks that Punctual and the old library plan the same next run.
   *
   * @throws IllegalArgumentException if they do not, or if the schedule is not valid
   */
  OldSchedule {
    Optional<Instant> next = next(schedule, first);
    if (!next.equals(Optional.of(first))) {
      throw new IllegalArgumentException(
          "the old side plans %s next, but Punctual would plan %s for '%s' in %s"
              .formatted(
                  first,
                  next.map(Instant::toString).orElse("nothing"),
                  rule(schedule),
                  schedule.zone()));
    }
  }

  /**
   * Makes one of a library that does not keep the next planned instant.
   *
   * @param last the last instant that the old side runs
   * @throws UnreadableException if nothing is planned after it
   */
  static OldSchedule after(Instant last, Schedule schedule, String original)
      throws UnreadableException {
    Occurrence next = recurrence(schedule).next(last);
    if (next == null) {
      throw new UnreadableException("does not run any more: '" + original + "'");
    }
    return new OldSchedule(schedule, next.at(), original);
  }

  /**
   * Returns a time zone.
   *
   * @throws UnreadableException if Punctual does not know it
   */
  static ZoneId zone(String name) throws UnreadableException {
    if (name.equals("Z")) {
      return ZoneId.of("UTC");
    } else if (!ZoneId.getAvailableZoneIds().contains(name)) {
      throw new UnreadableException(
          "has the time zone '%s', which is not in the IANA time zone database".formatted(name));
    }
    return ZoneId.of(name);
  }

  private static Recurrence recurrence(Schedule schedule) {
    return ScheduleDefinition.of(schedule).recurrence();
  }

  private static Optional<Instant> next(Schedule schedule, Instant from) {
    return Optional.ofNullable(recurrence(schedule).next(from.minusMillis(1))).map(Occurrence::at);
  }

  private static String rule(Schedule schedule) {
    return String.valueOf(schedule.cron() == null ? schedule.every() : schedule.cron());
  }

  String id() {
    return schedule.id();
  }

  @Override
  public String params() {
    return schedule.params();
  }

  Map<String, String> headers() {
    return schedule.headers();
  }

  /** Returns when the schedule fires, in a few words. */
  String rule() {
    return schedule.cron() == null
        ? "every " + schedule.every()
        : "'" + schedule.cron() + "' in " + schedule.zone();
  }

  /** Returns the next planned instants. */
  List<Instant> next(int max) {
    return recurrence(schedule).next(first.minusMillis(1), max).stream()
        .map(Occurrence::at)
        .toList();
  }

  /** Returns the planned instant with which the new schedule begins; null if none is left. */
  @Nullable Instant begin(Instant now) {
    Instant soonest = now.plus(LEAD);
    return next(schedule, first.isAfter(soonest) ? first : soonest).orElse(null);
  }

  /**
   * Returns the jobs of the instants that neither the old side nor the new schedule runs. Those
   * that are over for longer than a minute are missed, and run as the schedule says of missed ones.
   *
   * @param begin the first instant that the new schedule runs; null if there is none
   */
  List<OldJob> between(@Nullable Instant begin, Instant now) {
    Instant late = now.minus(LEAD);
    List<Instant> missed = until(first, begin).stream().takeWhile(at -> at.isBefore(late)).toList();
    List<Instant> onTime = until(first.isBefore(late) ? late : first, begin);
    List<Instant> run =
        switch (java.util.Objects.requireNonNull(schedule.missed())) {
          case NONE -> onTime;
          case ALL -> Stream.concat(missed.stream(), onTime.stream()).toList();
          case LATEST -> onTime.isEmpty() && !missed.isEmpty() ? List.of(missed.getLast()) : onTime;
        };
    return run.stream().map(this::job).toList();
  }

  private List<Instant> until(Instant from, @Nullable Instant begin) {
    return recurrence(schedule).next(from.minusMillis(1), MAX_GAP).stream()
        .map(Occurrence::at)
        .takeWhile(at -> begin == null || at.isBefore(begin))
        .toList();
  }

  private OldJob job(Instant at) {
    return new OldJob(
        OldIds.of("moved", schedule.taskType(), schedule.id(), at.toString()),
        at.toEpochMilli(),
        schedule.params(),
        schedule.headers(),
        List.of());
  }
}
