package io.punctual.server.migrate;

import io.punctual.schedule.Schedule;
import io.punctual.server.migrate.Submissions.Kind;
import io.punctual.server.migrate.Submissions.Result;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Puts recurring schedules to a scheduler. */
final class RemoteSchedules {

  private final SchedulerHttp scheduler;
  private final String application;

  RemoteSchedules(SchedulerHttp scheduler, String application) {
    this.scheduler = scheduler;
    this.application = application;
  }

  /**
   * What became of a schedule.
   *
   * @param begin the first instant that it runs, if it is stored
   */
  record Put(Result result, @Nullable Instant begin) {}

  /**
   * Makes a schedule, unless an earlier call has made it.
   *
   * @param begin the first instant that it runs
   */
  Put put(OldSchedule old, Instant begin) throws UnavailableException, InterruptedException {
    Schedule schedule = old.schedule();
    String path = "/schedules/" + application + "/" + schedule.taskType() + "/" + schedule.id();
    SchedulerHttp.Answer found = scheduler.call("GET", path, null);
    if (found.status() == 200) {
      return known(old, found.json());
    } else if (found.status() != 404) {
      return refused(found);
    }
    SchedulerHttp.Answer answer =
        scheduler.call("PUT", path, body(schedule, begin), "If-None-Match", "*");
    if (answer.status() == 412) {
      return put(old, begin);
    }
    return answer.status() == 201 ? new Put(new Result(Kind.CREATED, ""), begin) : refused(answer);
  }

  /** Deletes a schedule; returns false if the scheduler did not. */
  boolean delete(OldSchedule old) throws UnavailableException, InterruptedException {
    Schedule schedule = old.schedule();
    String path = "/schedules/" + application + "/" + schedule.taskType() + "/" + schedule.id();
    int status = scheduler.call("DELETE", path, null).status();
    return status == 200 || status == 204;
  }

  private static Put refused(SchedulerHttp.Answer answer) throws UnavailableException {
    if (answer.isLater()) {
      return new Put(new Result(Kind.LATER, answer.said()), null);
    } else if (answer.status() == 400 || answer.status() == 409 || answer.status() == 413) {
      return new Put(new Result(Kind.REFUSED, answer.said()), null);
    }
    throw new UnavailableException(answer.from() + " answered " + answer.said());
  }

  /** An earlier run of the command has put it, or it is another one. */
  private static Put known(OldSchedule old, JsonNode found) throws UnavailableException {
    JsonNode headers = found.path("headers");
    String from = found.path("from").asString("");
    boolean same =
        !from.isEmpty()
            && old.headers().entrySet().stream()
                .allMatch(
                    header -> header.getValue().equals(headers.path(header.getKey()).asString("")));
    if (!same) {
      return new Put(
          new Result(
              Kind.REFUSED,
              "Punctual has another schedule with the id "
                  + old.id()
                  + ". Delete it, or give the old one another name"),
          null);
    }
    return new Put(new Result(Kind.THERE, ""), Instant.parse(from));
  }

  private static Map<String, Object> body(Schedule schedule, Instant begin) {
    Map<String, Object> body = new LinkedHashMap<>();
    if (schedule.cron() == null) {
      body.put("every", Objects.requireNonNull(schedule.every()).toMillis());
      body.put("anchor", Objects.requireNonNull(schedule.anchor()).toString());
    } else {
      body.put("cron", schedule.cron());
      body.put("gap", word(Objects.requireNonNull(schedule.gap())));
      body.put("fold", word(Objects.requireNonNull(schedule.fold())));
    }
    if (schedule.zone() != null) {
      body.put("zone", schedule.zone().getId().equals("Z") ? "UTC" : schedule.zone().getId());
    }
    body.put("from", begin.toString());
    if (schedule.until() != null) {
      body.put("until", schedule.until().toString());
    }
    body.put("missed", word(Objects.requireNonNull(schedule.missed())));
    body.put("whileRunning", word(Objects.requireNonNull(schedule.whileRunning())));
    body.put("params", schedule.params());
    body.put("headers", schedule.headers());
    return body;
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
