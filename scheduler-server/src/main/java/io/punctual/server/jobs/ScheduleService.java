package io.punctual.server.jobs;

import io.punctual.core.schedule.Occurrence;
import io.punctual.core.schedule.Recurrence;
import io.punctual.server.problem.ApiException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Recurring schedules. */
@Component
public class ScheduleService {

  private final InstantSource clock = InstantSource.system();

  /**
   * Returns the next instants at which a schedule fires.
   *
   * @param from epoch ms, the first moment that counts; null for now
   * @param max at least one
   * @throws ApiException 400 if it never fires from then on
   */
  public List<Occurrence> preview(Recurrence recurrence, @Nullable Long from, int max) {
    Instant begin = from == null ? clock.instant() : Instant.ofEpochMilli(from);
    List<Occurrence> next = recurrence.next(begin.minusNanos(1), max);
    if (next.isEmpty()) {
      throw ApiException.invalid(
          recurrence.cron() == null ? "every" : "cron",
          "never fires from "
              + begin
              + " on: look at until, exclude and gap, and at the days and months that it names");
    }
    return next;
  }
}
