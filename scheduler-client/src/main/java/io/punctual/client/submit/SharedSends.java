package io.punctual.client.submit;

import io.punctual.BatchItem;
import io.punctual.DelayQueueJob;
import io.punctual.PunctualException;
import io.punctual.SchedulerUnavailableException;
import io.punctual.SubmitResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that many threads send at the same time share requests. A few requests are under way at
 * once; while there are fewer, a send goes out by itself and at once. Else it waits until one of
 * them ends, and the first that waits takes all others along: throughput by grouping what is there,
 * never by waiting for company. The work is done by the threads that send.
 *
 * <p>What is not plainly stored with the others is sent once more by itself, so that every sender
 * gets its own error; a job is known by its id, so that this is harmless.
 *
 * <p>Every send ends by its own deadline, those included that wait for requests of others.
 * Deadlines are of {@link System#nanoTime}.
 */
final class SharedSends {

  /** One job, with everything that is done about calls that fail. */
  interface Single {
    SubmitResult send(DelayQueueJob job, long deadline);
  }

  /** Many jobs in one request. */
  interface Many {
    List<BatchItem> send(List<DelayQueueJob> jobs, long deadline);
  }

  // More would make smaller groups, fewer would make a few senders wait for each other.
  private static final int CALLS = 4;
  // Of one request; far below what schedulers take.
  private static final int MAX_JOBS = 100;
  private static final int MAX_CHARACTERS = 256 * 1024;
  // Behind its deadline a job that is being sent with others: theirs may be a little later.
  private static final Duration RETRY_AFTER = Duration.ofSeconds(2);
  private static final Duration GRACE = Duration.ofSeconds(1);

  private final Single single;
  private final Many many;
  // Those whose time is over first: one that has to wait again keeps its place.
  private final PriorityQueue<Sender> waiting =
      new PriorityQueue<>((one, other) -> Long.signum(one.deadline - other.deadline));
  private int calls;

  SharedSends(Single single, Many many) {
    this.single = single;
    this.many = many;
  }

  /** What a sender that waited is told. */
  private sealed interface Turn {

    record Lead() implements Turn {}

    record Alone() implements Turn {}

    /** The request failed by no fault of the job, perhaps since its leader had no more time. */
    record Again(SchedulerUnavailableException error) implements Turn {}

    record Stored(SubmitResult result) implements Turn {}
  }

  private static final Turn LEAD = new Turn.Lead();
  private static final Turn ALONE = new Turn.Alone();

  private static final class Sender {

    private final DelayQueueJob job;
    private final long deadline;
    private final CompletableFuture<Turn> turn = new CompletableFuture<>();

    Sender(DelayQueueJob job, long deadline) {
      this.job = job;
      this.deadline = deadline;
    }

    long left() {
      return deadline - System.nanoTime();
    }
  }

  /**
   * Sends a job.
   *
   * @throws SchedulerUnavailableException if no scheduler took it by then
   */
  SubmitResult send(DelayQueueJob job, long deadline) {
    SchedulerUnavailableException before = null;
    while (true) {
      Sender sender = new Sender(job, deadline);
      Turn turn;
      try {
        turn = begins(sender) ? LEAD : await(sender);
        if (turn == LEAD) {
          turn = lead(sender);
        }
        if (turn == ALONE) {
          return single.send(job, deadline);
        }
      } catch (SchedulerUnavailableException e) {
        throw before != null && before.mayHaveTakenEffect() ? copy(before) : e;
      }
      if (turn instanceof Turn.Stored stored) {
        return stored.result();
      } else if (turn instanceof Turn.Again again) {
        before = again.error();
        if (sender.left() <= 0) {
          throw copy(before);
        }
      }
    }
  }

  /** Returns the error with the stack of this thread. */
  private static SchedulerUnavailableException copy(SchedulerUnavailableException e) {
    return new SchedulerUnavailableException(
        String.valueOf(e.getMessage()), e.retryAfter(), e.mayHaveTakenEffect(), e);
  }

  /** How many wait for a request to end. */
  int waiting() {
    synchronized (waiting) {
      return waiting.size();
    }
  }

  private boolean begins(Sender sender) {
    synchronized (waiting) {
      if (calls < CALLS) {
        calls++;
        return true;
      }
      waiting.add(sender);
      return false;
    }
  }

  private Turn await(Sender sender) {
    try {
      return sender.turn.get(sender.left(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      if (leave(sender)) {
        throw unavailable(
            "Nothing was sent: the requests of other threads took all of the time that the call had."
                + " Repeat it, or raise punctual.submit-timeout.",
            /* mayHaveTakenEffect= */ false,
            e);
      }
      return awaitOthers(sender);
    } catch (InterruptedException e) {
      throw interrupted(sender, e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("not completed exceptionally by any caller", e);
    }
  }

  /** For a job that others are sending. */
  private Turn awaitOthers(Sender sender) {
    try {
      return sender.turn.get(GRACE.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw unavailable(
          "No scheduler answered in time. The call may have taken effect: repeat it with the same"
              + " task id.",
          /* mayHaveTakenEffect= */ true,
          e);
    } catch (InterruptedException e) {
      throw interrupted(sender, e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("not completed exceptionally by any caller", e);
    }
  }

  private SchedulerUnavailableException interrupted(Sender sender, InterruptedException e) {
    boolean waited = leave(sender);
    Thread.currentThread().interrupt();
    return unavailable(
        waited
            ? "Interrupted while waiting for a scheduler. Nothing was sent."
            : "Interrupted while waiting for a scheduler. The call may have taken effect: repeat it"
                + " with the same task id.",
        !waited,
        e);
  }

  /** Lets a sender wait no longer; says whether nobody has sent its job. */
  private boolean leave(Sender sender) {
    boolean leads;
    boolean waited;
    synchronized (waiting) {
      waited = waiting.remove(sender);
      leads = sender.turn.getNow(ALONE) == LEAD;
    }
    if (leads) {
      passOn();
    }
    return waited || leads;
  }

  private static SchedulerUnavailableException unavailable(
      String message, boolean mayHaveTakenEffect, Exception cause) {
    return new SchedulerUnavailableException(message, RETRY_AFTER, mayHaveTakenEffect, cause);
  }

  // Sends what waits, and answers what became of its own job.
  private Turn lead(Sender leader) {
    List<Sender> group = group(leader);
    if (group.size() == 1) {
      try {
        return new Turn.Stored(single.send(leader.job, leader.deadline));
      } finally {
        passOn();
      }
    }
    List<BatchItem> items = List.of();
    Turn failure = ALONE;
    try {
      items = many.send(group.stream().map(sender -> sender.job).toList(), leader.deadline);
    } catch (SchedulerUnavailableException e) {
      // That the leader was interrupted, or has no more time, is no trouble of the others.
      failure = new Turn.Again(e);
      throw e;
    } catch (PunctualException e) {
      // The request as a whole: by itself each job gets the answer that is meant for it.
      failure = ALONE;
    } finally {
      passOn();
      for (int i = 1; i < group.size(); i++) {
        group.get(i).turn.complete(turn(items, i, failure));
      }
    }
    return turn(items, 0, failure);
  }

  private static Turn turn(List<BatchItem> items, int index, Turn otherwise) {
    SubmitResult result = index < items.size() ? items.get(index).result() : null;
    return result != null ? new Turn.Stored(result) : otherwise;
  }

  private List<Sender> group(Sender leader) {
    List<Sender> group = new ArrayList<>();
    group.add(leader);
    long characters = leader.job.params().length();
    synchronized (waiting) {
      while (group.size() < MAX_JOBS && !waiting.isEmpty()) {
        DelayQueueJob next = waiting.element().job;
        characters += next.params().length();
        if (characters > MAX_CHARACTERS || !sharesRequest(leader.job, next)) {
          break;
        }
        group.add(waiting.remove());
      }
    }
    return group;
  }

  /** Whether both want the same if a job of their id is there: one request says it once. */
  private static boolean sharesRequest(DelayQueueJob one, DelayQueueJob other) {
    return one.onConflict().equals(other.onConflict())
        && (!one.onConflict().isDebounce() || Objects.equals(one.delay(), other.delay()));
  }

  private void passOn() {
    synchronized (waiting) {
      @Nullable Sender next = waiting.poll();
      if (next == null) {
        calls--;
      } else {
        next.turn.complete(LEAD);
      }
    }
  }
}
