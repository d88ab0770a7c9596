package io.punctual.core.pull;

import io.punctual.core.PullRequest;
import io.punctual.core.PulledJob;
import io.punctual.core.job.QueueName;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The pulls that wait for jobs of each queue, in order of arrival. They are kept by the queue's
 * name, since a pull may wait for a queue that has had no job yet.
 *
 * <p>A scanner takes a pull and claims jobs for it, so that every claimed job has a taker. If there
 * was no job, the scanner puts the pull back in its place. Meanwhile no other scanner sees the
 * pull. So the scanners of its queues are woken then: one of them may have found no pull.
 */
public final class Pulls {

  /** Somebody who waits. */
  public static final class Waiting {
    public final PullRequest request;
    public final CompletableFuture<List<PulledJob>> answer = new CompletableFuture<>();
    private long since;
    private boolean held;

    Waiting(PullRequest request) {
      this.request = request;
    }

    /** Returns when it began to wait, monotonic ns. */
    public long since() {
      return since;
    }
  }

  private final Map<QueueName, Set<Waiting>> queues = new ConcurrentHashMap<>();
  private final LongSupplier clock;
  private volatile Consumer<QueueName> ring = queue -> {};

  /**
   * @param clock monotonic ns
   */
  public Pulls(LongSupplier clock) {
    this.clock = clock;
  }

  /** What wakes the scanners of a queue that sleep because nobody wanted its jobs. */
  public void ringsWith(Consumer<QueueName> ring) {
    this.ring = ring;
  }

  /** Puts somebody at the end of all its queues, until its answer is complete. */
  public void add(Waiting waiting) {
    waiting.since = clock.getAsLong();
    for (QueueName queue : waiting.request.queues()) {
      queues.compute(
          queue,
          (name, all) -> {
            Set<Waiting> more = all == null ? new LinkedHashSet<>() : all;
            more.add(waiting);
            return more;
          });
    }
    var unused = waiting.answer.whenComplete((jobs, error) -> remove(waiting));
    waiting.request.queues().forEach(ring);
  }

  private void remove(Waiting waiting) {
    for (QueueName queue : waiting.request.queues()) {
      queues.computeIfPresent(
          queue,
          (name, all) -> {
            all.remove(waiting);
            return all.isEmpty() ? null : all;
          });
    }
  }

  /** Whether somebody waits that nobody claims for just now. */
  public boolean waits(QueueName queue) {
    return first(queue, /* hold= */ false) != null;
  }

  /** The first that waits and is not held; held from now on. */
  public @Nullable Waiting take(QueueName queue) {
    return first(queue, /* hold= */ true);
  }

  /** It may be claimed for again. */
  public void putBack(Waiting waiting) {
    synchronized (waiting) {
      waiting.held = false;
    }
    if (!waiting.answer.isDone()) {
      waiting.request.queues().forEach(ring);
    }
  }

  private @Nullable Waiting first(QueueName queue, boolean hold) {
    List<Waiting> found = new ArrayList<>(1);
    queues.computeIfPresent(
        queue,
        (name, all) -> {
          for (Waiting waiting : all) {
            synchronized (waiting) {
              if (!waiting.held && !waiting.answer.isDone()) {
                waiting.held = hold;
                found.add(waiting);
                break;
              }
            }
          }
          return all;
        });
    return found.isEmpty() ? null : found.get(0);
  }

  /** The queues for which pulls wait. */
  public Set<QueueName> waitedFor() {
    return queues.keySet();
  }

  /** Ends all waits with no job. */
  public void close() {
    List<Waiting> all = new ArrayList<>();
    for (QueueName queue : queues.keySet()) {
      queues.computeIfPresent(
          queue,
          (name, waiting) -> {
            all.addAll(waiting);
            return waiting;
          });
    }
    all.forEach(waiting -> waiting.answer.complete(List.of()));
  }
}
