package io.punctual.server.health;

import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.server.health.Finding.Code;
import io.punctual.server.health.Finding.Subject;
import io.punctual.server.metrics.FailurePlace;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.metrics.RecentErrors;
import io.punctual.server.probe.Status;
import io.punctual.server.text.Text;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Judges queues: the one place that says which of its faults a queue has. */
public final class QueueHealth {

  /** A job that has been due for longer is late. */
  static final long LATE_MS = 5_000;

  private static final int NAMED = 5;

  private QueueHealth() {}

  /** The word for a queue of which nothing bad is found. */
  public static final String WELL = "well";

  /** The word for one that is outside of its hours, as an operator wanted it: nothing is wrong. */
  private static final String CLOSED = "closed";

  /** Returns all words that {@link #state} has. */
  public static List<String> states() {
    return List.of(
        WELL, "late", "failing", "parked", "unserved", "circuits", "paused", "closed", "damaged");
  }

  /** Returns what an operator ought to know first of a queue, as a word. */
  public static String state(QueueSample queue) {
    return findings(queue).stream()
        .map(Finding::code)
        .findFirst()
        .map(Code::word)
        .orElse(queue.closed() ? CLOSED : WELL);
  }

  /** Returns what is wrong with a queue, the most important first. */
  public static List<Finding> findings(QueueSample queue) {
    if (queue.damaged()) {
      return List.of(damaged(queue.queue(), String.valueOf(queue.stats().damage())));
    }
    List<Finding> findings = new ArrayList<>();
    boolean late = !queue.closed() && queue.readyAge() > LATE_MS;
    boolean explained = true;
    if (queue.paused()) {
      findings.add(of(Code.PAUSED, queue));
    } else if (queue.circuitOpen()) {
      findings.add(of(Code.CIRCUITS, queue));
    } else if (late && queue.parked()) {
      findings.add(of(queue.instances() == 0 ? Code.UNSERVED : Code.PARKED, queue));
    } else {
      explained = false;
    }
    if (queue.failing()) {
      findings.add(of(Code.FAILING, queue));
    }
    if (late && !explained) {
      findings.add(of(Code.LATE, queue));
    }
    return findings;
  }

  /** Returns the queues that have dead letters, those in which jobs died within the hour first. */
  public static List<QueueSample> withDead(Collection<QueueSample> queues) {
    return queues.stream()
        .filter(queue -> queue.stats().dead() > 0 && !queue.damaged())
        .sorted(
            Comparator.comparingLong((QueueSample queue) -> queue.stats().deadInHour())
                .thenComparingLong(queue -> queue.stats().dead())
                .reversed())
        .toList();
  }

  /** Returns one finding about all dead letters; none if there are none. */
  static List<Finding> dead(Collection<QueueSample> queues) {
    List<QueueSample> dead = withDead(queues);
    return dead.isEmpty()
        ? List.of()
        : List.of(
            Finding.of(
                Code.DEAD,
                "",
                Status.WARNING,
                "detail",
                Finding.some(
                    dead.stream()
                        .map(queue -> queue.queue() + " (" + queue.stats().dead() + ")")
                        .toList(),
                    NAMED)));
  }

  /** Returns a word for why a due job of a queue still waits. */
  public static String reason(QueueSample queue) {
    if (queue.damaged()) {
      return "damaged";
    } else if (queue.paused()) {
      return "paused";
    } else if (queue.closed()) {
      return CLOSED;
    } else if (queue.circuitOpen()) {
      return "circuits";
    } else if (queue.parked()) {
      return queue.instances() == 0 ? "unserved" : "parked";
    } else if (queue.instances() == 0 && !queue.pulled()) {
      return "unserved";
    } else if (!queue.stats().throttle().equals(Throttle.NONE)) {
      return "limited";
    }
    return queue.stats().reserved() > 0 ? "behind" : "scan";
  }

  /** A queue whose circuit is open. */
  static Finding circuit(QueueName queue) {
    return of(
        Code.CIRCUITS,
        Subject.of(queue),
        queue.application(),
        List.of(queue.taskType()),
        List.of());
  }

  static Finding damaged(QueueName queue, String damage) {
    return Finding.of(
        Code.DAMAGED,
        "",
        Status.PROBLEM,
        Subject.of(queue),
        "queue",
        queue.toString(),
        "detail",
        damage);
  }

  private static Finding of(Code code, QueueSample queue) {
    QueueName name = queue.queue();
    return of(code, Subject.of(name), name.application(), List.of(name(code, queue)), List.of());
  }

  /**
   * Makes a finding about queues of one application.
   *
   * @param names of the queues; the first few are named
   * @param hints what may be meant instead
   */
  static Finding of(Code code, Subject subject, String application, List<?> names, List<?> hints) {
    return Finding.of(
        code,
        "",
        code == Code.PAUSED ? Status.WARNING : Status.PROBLEM,
        subject,
        "application",
        application,
        "queues",
        Finding.some(names, NAMED),
        "queue",
        String.valueOf(subject.queue()),
        "hint",
        hints.isEmpty() ? "" : Finding.part("hint", "some", hints));
  }

  /** Names a queue within its application, with the figures that a kind of finding has. */
  static Object name(Code code, QueueSample queue) {
    String type = queue.queue().taskType();
    QueueSample.Attempts attempts = queue.attempts();
    return switch (code) {
      case FAILING ->
          Finding.part(
              attempts.minutes() == 1 ? "failing.minute" : "failing.queue",
              "type",
              type,
              "percent",
              attempts.failedPercent(),
              "ended",
              attempts.ended(),
              "minutes",
              attempts.minutes(),
              "most",
              queue.error() == null
                  ? ""
                  : Finding.part("failing.most", "often", often(queue.error())));
      case CIRCUITS ->
          queue.error() == null
              ? type
              : Finding.part("circuits.queue", "type", type, "often", often(queue.error()));
      case PAUSED ->
          Finding.part(
              "paused.queue",
              "type",
              type,
              "detail",
              queue.stats().pauses().stream()
                  .map(QueueSample::text)
                  .collect(Collectors.joining("; ")));
      case LATE ->
          Finding.part(
              "late.queue",
              "type",
              type,
              "seconds",
              String.format(Locale.ROOT, "%.1f", queue.readyAge() / 1_000.0));
      default -> type;
    };
  }

  private static Text often(RecentErrors.Common error) {
    FailurePlace place = error.place();
    return Finding.part(
        "failing.often",
        "error",
        error.text(),
        "percent",
        error.percent(),
        "count",
        error.failures(),
        "place",
        place == null
            ? ""
            : Finding.part(
                "failing." + place.kind().toLowerCase(Locale.ROOT),
                "percent",
                place.percent(),
                "instance",
                place.instance(),
                "release",
                place.release()));
  }
}
