package io.punctual.test.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What really happened in a simulated run, noted by those who did it; the judge of the run. Times
 * are the store's.
 */
final class Ledger {

  /** Ms that an attempt, its end and a rare look may take. */
  private static final long SLACK = 900;

  /** Ms in which a job that was made due runs. */
  private static final long LATEST = 5_000;

  private final Map<String, Long> due = new HashMap<>();
  private final Set<String> accepted = new TreeSet<>();
  private final Map<String, Integer> successes = new HashMap<>();
  private final Map<String, Long> leaseUntil = new HashMap<>();
  private final Set<String> touched = new HashSet<>();
  private final Set<String> stopped = new HashSet<>();
  private final List<String> wrong = new ArrayList<>();
  private final Map<String, Integer> triggers = new HashMap<>();
  private final Map<String, Long> unanswered = new HashMap<>();
  private final Map<String, Duration> bounds = new HashMap<>();
  private final Set<String> late = new TreeSet<>();
  private final Map<String, Integer> known = new HashMap<>();
  private final Map<String, Long> cancelled = new HashMap<>();
  private final Map<String, Long> madeDue = new HashMap<>();

  /** An event that makes a job due is on its way. */
  void mayRunFrom(String id, long now) {
    due.merge(id, now, Math::min);
  }

  /**
   * The submit of a job, or the event that it waits for, was answered. Once both are, the job is
   * handed out no more, or soon.
   */
  void met(String id, boolean cancels, long now) {
    if (known.merge(id, 1, Integer::sum) == 2) {
      (cancels ? cancelled : madeDue).put(id, now);
    }
  }

  /** A job was sent to the store, whether or not the answer came. */
  void submitted(String id, long dueAt) {
    due.merge(id, dueAt, Math::min);
  }

  void accepted(String id) {
    accepted.add(id);
  }

  /** A fault that may lead to one more execution of the job. */
  void fault(String id) {
    touched.add(id);
  }

  void leased(String id, long now, long until) {
    Long before = leaseUntil.get(id);
    if (before != null && before > now) {
      wrong.add(id + " was leased at " + now + " although another lease lasts until " + before);
    }
    leaseUntil.put(id, until);
  }

  /** An attempt was told to stop, since its job is to be cancelled. */
  void stopped(String incarnation) {
    stopped.add(incarnation);
  }

  void claimed(String id, String incarnation, long now) {
    if (now > cancelled.getOrDefault(id, Long.MAX_VALUE)) {
      wrong.add(id + " was handed out at " + now + " although its event came before");
    }
    if (stopped.contains(incarnation)) {
      wrong.add(id + " was to be cancelled, and was handed out again");
    }
  }

  void extended(String id, long until) {
    leaseUntil.merge(id, until, Math::max);
  }

  void released(String id) {
    leaseUntil.remove(id);
  }

  /**
   * A submit of an id that may be submitted again and again; a run must begin after it.
   *
   * @param atMost by then, if nothing fails; null if it is not bounded
   */
  void triggered(String id, long now, @Nullable Duration atMost) {
    submitted(id, now);
    triggers.merge(id, 1, Integer::sum);
    unanswered.putIfAbsent(id, now);
    if (atMost != null) {
      bounds.put(id, atMost);
    }
  }

  /** A job is over: what waits for its end has its time from now on. */
  void ended(String id, long now) {
    unanswered.computeIfPresent(id, (key, since) -> now);
  }

  void began(String id, long now) {
    Long since = unanswered.remove(id);
    Duration bound = bounds.get(id);
    if (since != null && bound != null && now > since + bound.toMillis() + SLACK) {
      late.add(id + " was triggered at " + since + " and ran at " + now);
    }
    Long made = madeDue.remove(id);
    if (made != null && now > made + LATEST) {
      late.add(id + " was made due at " + made + " and ran at " + now);
    }
    Long dueAt = due.get(id);
    if (dueAt == null) {
      wrong.add(id + " ran and was never submitted");
    } else if (now < dueAt) {
      wrong.add(id + " ran at " + now + ", before it was due at " + dueAt);
    }
  }

  void succeeded(String id) {
    successes.merge(id, 1, Integer::sum);
  }

  /**
   * Judges the run when it has drained.
   *
   * @param finished ids with a tombstone that says done
   * @param cancelled ids with a tombstone that says cancelled
   * @param dead ids of dead letters
   * @param pending ids that wait or are reserved
   */
  List<String> verdict(
      Set<String> finished, Set<String> cancelled, Set<String> dead, Set<String> pending) {
    List<String> all = new ArrayList<>(wrong);
    for (String id : accepted) {
      int places = (finished.contains(id) ? 1 : 0) + (dead.contains(id) ? 1 : 0);
      places += (pending.contains(id) ? 1 : 0) + (cancelled.contains(id) ? 1 : 0);
      if (places != 1) {
        all.add(id + " was accepted and is in " + places + " places");
      }
    }
    pending.forEach(id -> all.add(id + " did not drain"));
    for (String id : finished) {
      if (successes.getOrDefault(id, 0) == 0) {
        all.add(id + " is finished and never ran to its end");
      }
    }
    unanswered.keySet().stream()
        .filter(id -> !dead.contains(id))
        .forEach(id -> all.add(id + " was triggered and never ran after that"));
    late.stream().filter(story -> !touched.contains(story.split(" ")[0])).forEach(all::add);
    successes.forEach(
        (id, times) -> {
          if (times > triggers.getOrDefault(id, 1) && !touched.contains(id)) {
            all.add(id + " ran " + times + " times, and no fault explains it");
          }
        });
    return all;
  }
}
