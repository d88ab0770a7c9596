package io.punctual.client.submit;

import io.punctual.BatchItem;
import io.punctual.DelayQueueJob;
import io.punctual.PunctualException;
import io.punctual.SchedulerUnavailableException;
import io.punctual.SubmitResult;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Jobs that many threads send at the same time share requests. A few requests are under way at
 * once; while there are fewer, a send goes out by itself and at once. Else it waits until one of
 * them ends, and the first that waits takes all others along: throughput by grouping what is there,
 * never by waiting for company. The work is done by the threads that send.
 *
 * <p>What is not plainly stored with the others is sent once more by itself, so that every sender
 * gets its own error; a job is known by its id, so that this is harmless.
 */
final class SharedSends {

  /** One job, with everything that is done about calls that fail. */
  interface Single {
    SubmitResult send(DelayQueueJob job);
  }

  /** Many jobs in one request. */
  interface Many {
    List<BatchItem> send(List<DelayQueueJob> jobs);
  }

  // More would make smaller groups, fewer would make a few senders wait for each other.
  private static final int CALLS = 4;
  // Of one request; far below what schedulers take.
  private static final int MAX_JOBS = 100;
  private static final int MAX_CHARACTERS = 256 * 1024;

  private final Single single;
  private final Many many;
  private final ArrayDeque<Sender> waiting = new ArrayDeque<>();
  private int calls;

  SharedSends(Single single, Many many) {
    this.single = single;
    this.many = many;
  }

  /** What a sender that waited is told. */
  private sealed interface Turn {

    record Lead() implements Turn {}

    record Alone() implements Turn {}

    record Stored(SubmitResult result) implements Turn {}

    record Unavailable(SchedulerUnavailableException error) implements Turn {}
  }

  private static final Turn LEAD = new Turn.Lead();
  private static final Turn ALONE = new Turn.Alone();

  private static final class Sender {

    private final DelayQueueJob job;
    private final CompletableFuture<Turn> turn = new CompletableFuture<>();

    Sender(DelayQueueJob job) {
      this.job = job;
    }
  }

  SubmitResult send(DelayQueueJob job) {
    Sender sender = new Sender(job);
    Turn turn = begins(sender) ? LEAD : await(sender);
    if (turn == LEAD) {
      turn = lead(sender);
    }
    if (turn instanceof Turn.Stored stored) {
      return stored.result();
    }
    if (turn instanceof Turn.Unavailable unavailable) {
      SchedulerUnavailableException e = unavailable.error();
      throw new SchedulerUnavailableException(String.valueOf(e.getMessage()), e.retryAfter(), e);
    }
    return single.send(job);
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
      return sender.turn.get();
    } catch (InterruptedException e) {
      boolean leads;
      synchronized (waiting) {
        waiting.remove(sender);
        leads = sender.turn.getNow(ALONE) == LEAD;
      }
      if (leads) {
        passOn();
      }
      throw SchedulerCalls.interrupted(e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("nobody completes it so", e);
    }
  }

  // Sends what waits, and answers what became of its own job.
  private Turn lead(Sender leader) {
    List<Sender> group = group(leader);
    if (group.size() == 1) {
      try {
        return new Turn.Stored(single.send(leader.job));
      } finally {
        passOn();
      }
    }
    List<BatchItem> items = List.of();
    Turn failure = ALONE;
    try {
      items = many.send(group.stream().map(sender -> sender.job).toList());
    } catch (SchedulerUnavailableException e) {
      if (Thread.currentThread().isInterrupted()) {
        // That is nobody else's trouble.
        throw e;
      }
      failure = new Turn.Unavailable(e);
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
        characters += waiting.element().job.params().length();
        if (characters > MAX_CHARACTERS) {
          break;
        }
        group.add(waiting.remove());
      }
    }
    return group;
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
