package io.punctual.systemtest;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What may run of a job that one caller changed, one call after the other. Calls without a clear
 * answer may have taken effect or not, at any time from their start on.
 */
final class JobChanges {

  private final List<Change> changes;

  /** Takes the calls in their order; those that were refused changed nothing. */
  JobChanges(Collection<Change> calls) {
    changes = calls.stream().filter(call -> call.answer() != Change.Answer.REFUSED).toList();
  }

  /** Whether a submit was acknowledged. */
  boolean acknowledged() {
    return changes.stream().anyMatch(change -> change.kind().creates() && change.acknowledged());
  }

  /** Returns the earliest due time that any call asked for, epoch ms. */
  long firstDue() {
    return changes.stream()
        .filter(change -> change.kind().givesDue())
        .mapToLong(Change::due)
        .min()
        .orElse(0);
  }

  /** Returns the versions of the content that a run may have that begins then; none if none may. */
  Set<Integer> versionsAt(long begin) {
    Set<Integer> versions = new HashSet<>();
    Set<Integer> newest = new HashSet<>();
    for (Change change : begunBy(begin)) {
      if (change.acknowledgedBy(begin)) {
        if (change.kind().cancels() || change.kind().givesContent()) {
          newest.clear();
        }
        if (change.kind().givesContent()) {
          newest.add(change.version());
        }
      } else if (change.kind().givesContent()) {
        versions.add(change.version());
      }
    }
    versions.addAll(newest);
    return versions;
  }

  /** Returns the earliest time at which a run may begin that begins then, epoch ms. */
  long dueAt(long begin) {
    long open = Long.MAX_VALUE;
    long newest = Long.MAX_VALUE;
    for (Change change : begunBy(begin)) {
      if (change.kind().givesDue()) {
        if (change.acknowledgedBy(begin)) {
          newest = change.due();
        } else {
          open = Math.min(open, change.due());
        }
      }
    }
    return Math.min(open, newest);
  }

  /** Whether a call between two runs may have made the job anew. */
  boolean renewed(Execution before, Execution next) {
    return before.version() != next.version()
        && begunBy(next.begin()).stream()
            .anyMatch(change -> change.kind().creates() && change.until() >= before.begin());
  }

  /** Whether the last acknowledged calls want it done, and no call without an answer cancels it. */
  boolean mustRun() {
    boolean wanted = false;
    for (Change change : changes) {
      if (change.acknowledged() && change.kind().creates()) {
        wanted = true;
      } else if (change.kind().cancels()) {
        if (change.unknown()) {
          return false;
        }
        wanted = false;
      }
    }
    return wanted;
  }

  /** Whether a content may be the last one to run: the newest, or one without a clear answer. */
  boolean maySettle(int version) {
    return versionsAt(Long.MAX_VALUE - 1).contains(version);
  }

  /** Whether a content belongs to the job as it was made last, before or after its revisions. */
  boolean belongsToTheLast(int version) {
    int made =
        changes.stream()
            .filter(change -> change.kind().creates() && change.acknowledged())
            .mapToInt(Change::version)
            .max()
            .orElse(0);
    return version >= made || maySettle(version);
  }

  private List<Change> begunBy(long time) {
    return changes.stream().filter(change -> change.from() <= time).toList();
  }
}
