package io.punctual.server.dispatch.circuit;

import io.punctual.core.job.LogFields;
import io.punctual.core.job.QueueName;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many jobs of one queue may be on their way. Where everything fails, its jobs wait instead of
 * using up their attempts; after a pause one job probes, and when that succeeds, the number grows
 * from a few by one with each job that succeeds, which doubles it each round: workers that have
 * just come back are not buried.
 *
 * <p>A backlog is eased in the same way: after a rest, only a few jobs go out until it is known
 * whether they are late. If they are, they have waited for something that was away (the schedulers,
 * the store, the workers), and the rest follows as they succeed; if not, it follows at once.
 *
 * <p>What was sent before it opened says nothing about now: it is neither waited for nor counted.
 * Nor is a job waited for that takes longer than the pause.
 */
public final class Circuit {

  private static final Logger log = LoggerFactory.getLogger(Circuit.class);
  private static final long LONGEST_PAUSE = Duration.ofMinutes(1).toNanos();
  private static final long REST = Duration.ofSeconds(5).toNanos();
  private static final Duration LATE = Duration.ofSeconds(5);
  static final int FIRST = 4;
  private static final int GROWN = 1_000;

  private final QueueName queue;
  private final int failuresToOpen;
  private final long firstPause;
  private final FailureStreak failures = new FailureStreak();
  private final FailureStreak failuresOfApplication;
  private final Supplier<Set<String>> serving;
  private final LongSupplier nanoTime;
  // What counts towards the limit, the oldest first; empty while there is none.
  private final Set<Ticket> out = new LinkedHashSet<>();
  private int limit = Integer.MAX_VALUE;
  private boolean open;
  private int timesOpened;
  private long openedAt;
  private long pause;
  private boolean everUsed;
  private int tickets;
  private long lastUsed;

  /**
   * Makes one.
   *
   * @param failuresToOpen how many deliveries in a row must fail for it to open; 0 for never
   * @param firstPause how long jobs wait before one probes, once it has opened
   * @param failuresOfApplication the deliveries in a row that have failed in all queues of the
   *     application together, shared by their circuits
   * @param serving the ids of the instances that its jobs go to now
   */
  Circuit(
      QueueName queue,
      int failuresToOpen,
      Duration firstPause,
      FailureStreak failuresOfApplication,
      Supplier<Set<String>> serving,
      LongSupplier nanoTime) {
    this.queue = queue;
    this.failuresToOpen = failuresToOpen;
    this.firstPause = firstPause.toNanos();
    this.failuresOfApplication = failuresOfApplication;
    this.serving = serving;
    this.nanoTime = nanoTime;
    this.pause = this.firstPause;
  }

  /** How many more jobs may go out now. The question changes nothing. */
  synchronized int free() {
    long now = nanoTime.getAsLong();
    if (open && now - openedAt < pause) {
      return 0;
    } else if (!open && rested(now)) {
      return FIRST;
    }
    int overdue = overdue(now).size();
    return Math.max(0, (open ? 1 : grown(overdue)) - (out.size() - overdue));
  }

  /** What is not waited for any longer. */
  private List<Ticket> overdue(long now) {
    return out.stream().takeWhile(ticket -> now - ticket.sentAt >= pause).toList();
  }

  /** Whether jobs wait because all of them failed. */
  synchronized boolean isOpen() {
    return open;
  }

  /** Whether nothing is on its way, and nothing was for that long. */
  synchronized boolean isIdle(Duration time) {
    return tickets == 0 && (!everUsed || nanoTime.getAsLong() - lastUsed >= time.toNanos());
  }

  /** Whether it knows no more than one that was just made. */
  synchronized boolean isClean() {
    return !open
        && (limit == Integer.MAX_VALUE || rested(nanoTime.getAsLong()))
        && failures.isEmpty();
  }

  private boolean rested(long now) {
    return !everUsed || now - lastUsed >= REST;
  }

  /**
   * A job is on its way; the ticket is to be told how it ended.
   *
   * @param waited ms for which it could have gone out
   */
  synchronized Ticket started(long waited) {
    long now = nanoTime.getAsLong();
    if (!open && rested(now)) {
      boolean late = waited >= LATE.toMillis();
      limit = late ? FIRST : Integer.MAX_VALUE;
      out.clear();
      if (late) {
        LogFields.of(log.atDebug(), queue)
            .log(
                "Jobs of {} have waited for {} s and go out again, a few at first",
                queue,
                waited / 1000);
      }
    } else {
      List<Ticket> overdue = overdue(now);
      overdue.forEach(out::remove);
      if (!open) {
        // They did not fail, which is all that can be known of a long job.
        limit = grown(overdue.size());
      }
    }
    everUsed = true;
    lastUsed = now;
    tickets++;
    Ticket ticket = new Ticket(timesOpened, now);
    if (open || limit != Integer.MAX_VALUE) {
      out.add(ticket);
    } else {
      out.clear();
    }
    return ticket;
  }

  private synchronized void succeeded(Ticket ticket) {
    if (!ended(ticket)) {
      return;
    }
    failures.clear();
    failuresOfApplication.clear();
    if (open) {
      open = false;
      pause = firstPause;
      limit = FIRST;
      LogFields.of(log.atInfo(), queue)
          .log("Jobs of {} succeed again. Deliveries resume, a few at first", queue);
    } else {
      limit = grown(1);
    }
  }

  /** The limit after so many more jobs that did not fail. */
  private int grown(int jobs) {
    return jobs <= GROWN - limit ? limit + jobs : Integer.MAX_VALUE;
  }

  private synchronized void failed(Ticket ticket, String instance, boolean known) {
    if (!ended(ticket)) {
      return;
    }
    failures.add(instance, known);
    failuresOfApplication.add(instance, known);
    int inQueue = failures.length(serving);
    int inApplication = failuresOfApplication.length(serving);
    if (open) {
      pause = Math.max(pause, Math.min(2 * pause, LONGEST_PAUSE));
      open();
    } else if (failuresToOpen > 0 && Math.max(inQueue, inApplication) >= failuresToOpen) {
      LogFields.of(log.atWarn(), queue)
          .log(
              "The last {} jobs that were sent to {} failed: the jobs of {} wait, without losing"
                  + " attempts, and one of them probes from time to time",
              Math.max(inQueue, inApplication),
              inQueue >= failuresToOpen ? queue : "any queue of " + queue.application(),
              queue);
      open();
    }
  }

  private void open() {
    open = true;
    timesOpened++;
    openedAt = nanoTime.getAsLong();
    out.clear();
  }

  /**
   * Ends a ticket. Returns true if it had not ended before and the circuit has not opened since the
   * ticket began.
   */
  private synchronized boolean ended(Ticket ticket) {
    if (ticket.ended) {
      return false;
    }
    ticket.ended = true;
    out.remove(ticket);
    tickets--;
    lastUsed = nanoTime.getAsLong();
    return ticket.timesOpened == timesOpened;
  }

  /** One job on its way. Only its first end counts. */
  public final class Ticket {

    private final int timesOpened;
    private final long sentAt;
    private boolean ended;

    private Ticket(int timesOpened, long sentAt) {
      this.timesOpened = timesOpened;
      this.sentAt = sentAt;
    }

    /** It was answered by a worker that works. */
    public void succeeded() {
      Circuit.this.succeeded(this);
    }

    /** The instance said that it failed. */
    public void failed(String instance) {
      Circuit.this.failed(this, instance, /* known= */ true);
    }

    /** Its outcome at the instance is unknown. */
    public void unknown(String instance) {
      Circuit.this.failed(this, instance, /* known= */ false);
    }

    /** It was not sent, after all. */
    public void withdrawn() {
      var unused = ended(this);
    }
  }
}
