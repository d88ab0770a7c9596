package io.punctual.core.engine;

import io.punctual.Limits;
import io.punctual.core.job.JobContent;
import io.punctual.core.job.JobState;
import io.punctual.core.queue.QueueName;
import io.punctual.core.store.Claim;
import io.punctual.core.store.JobStore;
import io.punctual.core.store.Lease;
import io.punctual.core.store.Settled;
import io.punctual.core.store.Settlement;
import io.punctual.core.store.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Serves pulls, and the ends of what was pulled; those that wait are kept by {@link Pulls}. */
final class PulledClaims implements Claims {

  private static final CompletableFuture<Settled> LOST =
      CompletableFuture.completedFuture(new Settled(Settled.Kind.LOST, 0));
  private static final CompletableFuture<Settled> GONE =
      CompletableFuture.completedFuture(new Settled(Settled.Kind.GONE, 0));

  private final JobStore jobs;
  private final Supplier<Session> sessions;

  PulledClaims(JobStore jobs, Supplier<Session> sessions) {
    this.jobs = jobs;
    this.sessions = sessions;
  }

  @Override
  public CompletableFuture<List<PulledJob>> pull(PullRequest request) {
    Session session = sessions.get();
    Pulls pulls = session.context().pulls();
    Look look = new Look(request);
    for (QueueName queue : request.queues()) {
      // Pulls that wait already come first: what is due is theirs.
      if (request.patience().isZero() || !pulls.waits(queue)) {
        look.at(session, queue);
        if (!look.found.isEmpty()) {
          return CompletableFuture.completedFuture(look.found);
        }
      }
    }
    RuntimeException failure = look.failure;
    if (failure != null && look.asked == 0) {
      throw failure;
    }
    if (request.patience().isZero()) {
      return CompletableFuture.completedFuture(List.of());
    }
    Pulls.Waiting waiting = new Pulls.Waiting(request);
    pulls.add(waiting);
    if (!session.isRunning()) {
      waiting.answer.complete(List.of());
    }
    return waiting.answer.completeOnTimeout(
        List.of(), request.patience().toMillis(), TimeUnit.MILLISECONDS);
  }

  /**
   * Takes what is due, bucket after bucket. A bucket that fails is left out: what the others have
   * given is not lost for it, and a damaged queue is not in the way of those that are asked for
   * with it. {@link Outages} has heard of it.
   */
  private final class Look {

    private final PullRequest request;
    private final List<PulledJob> found = new ArrayList<>();
    private final Set<String> away = new HashSet<>();
    private int asked;
    private @Nullable RuntimeException failure;

    Look(PullRequest request) {
      this.request = request;
    }

    void at(Session session, QueueName queue) {
      try {
        Optional<QueueLanes> lanes = session.queues().find(queue);
        if (lanes.isEmpty()) {
          asked++;
          return;
        }
        List<Lane> inAnyOrder = new ArrayList<>(lanes.get().lanes);
        Collections.shuffle(inAnyOrder);
        inAnyOrder.forEach(this::at);
      } catch (RuntimeException e) {
        failure = e;
      }
    }

    private void at(Lane lane) {
      String node = jobs.node(lane.bucket);
      if (found.size() >= request.max() || away.contains(node)) {
        return;
      }
      try {
        Claim claim = lane.puller.claim(request, request.max() - found.size());
        asked++;
        // Its lease is one more that may have to be taken back.
        Long deadline = claim.nextDeadline();
        if (deadline != null && !claim.jobs().isEmpty()) {
          lane.signal.deadline(deadline);
        }
        List<PulledJob> open = lane.puller.open(claim, request);
        // Until now nobody had asked for them.
        lane.puller.handedOut(claim, new ClaimTime(0, claim.now(), 0));
        found.addAll(open);
      } catch (StoreException e) {
        failure = e;
        if (e.kind() == StoreException.Kind.UNREACHABLE) {
          // Each further call there would take as long.
          away.add(node);
        }
      }
    }
  }

  @Override
  public List<QueueName> paused(List<QueueName> queues) {
    Queues known = sessions.get().queues();
    return queues.stream().filter(queue -> isPaused(known.seen(queue))).toList();
  }

  private static boolean isPaused(@Nullable QueueLanes lanes) {
    return lanes != null && lanes.lanes.stream().anyMatch(lane -> lane.puller.isPaused());
  }

  @Override
  public CompletableFuture<Settled> done(ClaimToken token) {
    return settle(Settlement.Op.ACK, token, Duration.ZERO, null);
  }

  @Override
  public CompletableFuture<Settled> failed(
      ClaimToken token, String worker, String error, @Nullable Duration delay) {
    Optional<Lane> lane = lane(token);
    if (lane.isEmpty()) {
      return LOST;
    }
    Optional<JobView> job = held(lane.get(), token);
    if (job.isEmpty()) {
      return LOST;
    }
    JobContent content = job.get().content();
    Duration wait =
        content == null
            ? Duration.ZERO
            : lane.get().endings.delayAfterFailure(content, job.get().tries().counted(), delay);
    return settle(Settlement.Op.FAIL, token, wait, new Note(worker, error));
  }

  @Override
  public CompletableFuture<Settled> rejected(ClaimToken token, String worker, String error) {
    return settle(Settlement.Op.REJECT, token, Duration.ZERO, new Note(worker, error));
  }

  @Override
  public CompletableFuture<Settled> release(ClaimToken token, Duration delay) {
    return settle(Settlement.Op.RELEASE, token, delay, null);
  }

  @Override
  public CompletableFuture<Settled> giveBack(ClaimToken token) {
    return settle(Settlement.Op.RETURN, token, Duration.ZERO, null);
  }

  @Override
  public void received(List<PulledJob> pulled) {
    Map<Lane, Map<Lease, Duration>> marks = new HashMap<>();
    for (PulledJob job : pulled) {
      QueueLanes known = sessions.get().queues().seen(job.token().queue());
      if (known != null) {
        marks
            .computeIfAbsent(known.lane(job.token().taskId()), lane -> new HashMap<>())
            .put(lease(job.token()), Duration.ofMillis(job.timeToRun()));
      }
    }
    marks.forEach((lane, leases) -> lane.received.add(leases));
  }

  private static Lease lease(ClaimToken token) {
    return new Lease(token.taskId(), token.lease());
  }

  @Override
  public OptionalLong extend(ClaimToken token, @Nullable Duration timeToRun) {
    Optional<Lane> lane = lane(token);
    Optional<JobView> job = lane.flatMap(found -> held(found, token));
    if (lane.isEmpty() || job.isEmpty()) {
      return OptionalLong.empty();
    }
    Duration own = job.get().content() == null ? null : job.get().content().timeToRun();
    Duration lease = timeToRun != null ? timeToRun : own != null ? own : Limits.DEFAULT_TIME_TO_RUN;
    Lease held = lease(token);
    if (!jobs.extend(lane.get().bucket, List.of(held), lease).isEmpty()) {
      return OptionalLong.empty();
    }
    lane.get().received.remove(held);
    return held(lane.get(), token).map(JobView::at).stream().mapToLong(Long::longValue).findFirst();
  }

  /** The job if it is reserved in that incarnation and by that token. */
  private Optional<JobView> held(Lane lane, ClaimToken token) {
    return jobs.find(lane.bucket, token.taskId())
        .filter(job -> job.state() == JobState.RESERVED)
        .filter(job -> job.lease() != null && job.lease().token().equals(token.lease()))
        .map(job -> Views.job(token.queue(), job))
        .filter(job -> token.incarnation().equals(job.incarnation()));
  }

  private CompletableFuture<Settled> settle(
      Settlement.Op op, ClaimToken token, Duration delay, @Nullable Note note) {
    Optional<Lane> found = lane(token);
    if (found.isEmpty()) {
      return op == Settlement.Op.ACK ? GONE : LOST;
    }
    Lane lane = found.get();
    return lane.settler
        .settle(
            new Settlement(
                op,
                token.taskId(),
                token.incarnation(),
                token.lease(),
                delay,
                /* alone= */ true,
                note == null ? new byte[0] : note.encode()))
        .thenApply(
            settled -> {
              lane.received.remove(lease(token));
              return settled;
            });
  }

  private Optional<Lane> lane(ClaimToken token) {
    return sessions.get().queues().find(token.queue()).map(found -> found.lane(token.taskId()));
  }
}
