package io.punctual.server.health;

import io.punctual.core.job.QueueName;
import io.punctual.core.job.Throttle;
import io.punctual.server.health.Finding.Code;
import io.punctual.server.health.Finding.Subject;
import io.punctual.server.metrics.QueueSample;
import io.punctual.server.probe.Status;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Judges queues: the one place with the thresholds of late and failing. */
public final class QueueHealth {

  /** A job that has been due for longer is late. */
  static final long LATE_MS = 5_000;

  /** A queue is failing from this share of failed attempts in the last minute on, in percent. */
  static final int FAILING_PERCENT = 10;

  /** Fewer attempts than these prove nothing. */
  static final int FAILING_ATTEMPTS = 20;

  private static final int NAMED = 5;

  private QueueHealth() {}

  /** The word for a queue of which nothing bad is found. */
  public static final String WELL = "well";

  /** Returns all words that {@link #state} has. */
  public static List<String> states() {
    return List.of(WELL, "late", "failing", "parked", "unserved", "circuits", "paused", "damaged");
  }

  /** Returns what an operator ought to know first of a queue, as a word. */
  public static String state(QueueSample queue) {
    return findings(queue).stream()
        .map(Finding::code)
        .filter(code -> code != Code.DEAD)
        .findFirst()
        .map(Code::word)
        .orElse(WELL);
  }

  /** Returns what is wrong with a queue, the most important first. */
  public static List<Finding> findings(QueueSample queue) {
    if (queue.damaged()) {
      return List.of(damaged(queue.queue(), String.valueOf(queue.stats().damage())));
    }
    List<Finding> findings = new ArrayList<>();
    boolean late = queue.readyAge() > LATE_MS;
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
    if (!queue.circuitOpen()
        && queue.attempts() >= FAILING_ATTEMPTS
        && queue.failedAttempts() * 100 >= queue.attempts() * FAILING_PERCENT) {
      findings.add(of(Code.FAILING, queue));
    }
    if (late && !explained) {
      findings.add(of(Code.LATE, queue));
    }
    if (queue.stats().dead() > 0) {
      findings.add(of(Code.DEAD, queue));
    }
    return findings;
  }

  /** Returns a word for why a due job of a queue still waits. */
  public static String reason(QueueSample queue) {
    if (queue.damaged()) {
      return "damaged";
    } else if (queue.paused()) {
      return "paused";
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
    return new Finding(
        Code.CIRCUITS,
        Status.PROBLEM,
        Subject.of(queue),
        text(Code.CIRCUITS, queue.application(), List.of(queue.taskType())),
        remedy(Code.CIRCUITS));
  }

  static Finding damaged(QueueName queue, String damage) {
    return new Finding(
        Code.DAMAGED,
        Status.PROBLEM,
        Subject.of(queue),
        "The keys of " + queue + " in Redis are damaged, so that its jobs wait: " + damage,
        "Find out what wrote that key, and rename or delete it (RENAME, DEL): the queue goes on by"
            + " itself within half a minute. What had stood there is gone with it: submit the"
            + " queue's jobs again, with the same ids, or bring the key back from a copy.");
  }

  private static Finding of(Code code, QueueSample queue) {
    return new Finding(
        code,
        code == Code.PAUSED || code == Code.DEAD ? Status.WARNING : Status.PROBLEM,
        Subject.of(queue.queue()),
        text(code, queue.queue().application(), List.of(name(code, queue))),
        remedy(code));
  }

  /** Names a queue within its application, with the figures that a kind of finding has. */
  static String name(Code code, QueueSample queue) {
    String type = queue.queue().taskType();
    return switch (code) {
      case FAILING ->
          type
              + " ("
              + queue.failedPercent()
              + " % of "
              + queue.attempts()
              + " attempts in the last minute)";
      case LATE -> String.format(Locale.ROOT, "%s (for %.1f s)", type, queue.readyAge() / 1_000.0);
      case DEAD -> type + " (" + queue.stats().dead() + ")";
      default -> type;
    };
  }

  /** Returns the text for queues of one application with the same kind of finding. */
  static String text(Code code, String application, Collection<String> names) {
    String some = names.stream().limit(NAMED).collect(Collectors.joining(", "));
    if (names.size() > NAMED) {
      some += " and " + (names.size() - NAMED) + " more";
    }
    return switch (code) {
      case UNSERVED -> "Jobs are due, and no instance of " + application + " runs " + some;
      case PARKED -> "Jobs are due, and no instance of " + application + " takes " + some + " now";
      case CIRCUITS -> "All that was sent lately of " + some + " failed, so that its jobs wait";
      case FAILING -> "Attempts of " + application + " fail: " + some;
      case LATE -> "Due jobs of " + application + " wait: " + some;
      case PAUSED -> "An operator paused " + some;
      case DEAD -> "Dead letters of " + application + ": " + some;
      default -> throw new IllegalArgumentException(code + " is about no queue");
    };
  }

  /** Returns what to do about queues with a kind of finding. */
  static String remedy(Code code) {
    return switch (code) {
      case UNSERVED ->
          "Start one with a TaskWorker of that type; its own log names the types that it runs. An"
              + " application of another name gets none of them: spring.application.name. If they"
              + " are fetched (punctual.delivery=pull, pop), no worker does so now.";
      case PARKED ->
          "Instances are busy (punctual.concurrency) or not reached: the checks of their own"
              + " say why.";
      case CIRCUITS ->
          "The jobs' last errors say why (GET /api/v1/jobs with the queue's state). It closes by"
              + " itself once a job succeeds (punctual.dispatch.circuit).";
      case FAILING ->
          "The jobs' last errors say why (GET /api/v1/jobs with the queue's state), as does the"
              + " workers' log.";
      case LATE -> "Add workers or concurrency (punctual.concurrency), or raise its limits.";
      case PAUSED -> "Resume it: POST /api/v1/queues/{application}/{taskType}/resume.";
      case DEAD -> "Fix what their last errors say, and requeue them.";
      default -> throw new IllegalArgumentException(code + " is about no queue");
    };
  }
}
