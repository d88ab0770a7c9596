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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The door for those who pull; what waits is kept by {@link Pulls}. */
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
    for (QueueName queue : request.queues()) {
      // Whoever waits already comes first: what is due is theirs.
      if (request.patience().isZero() || !pulls.waits(queue)) {
        List<PulledJob> found = takeDue(session, queue, request);
        if (!found.isEmpty()) {
          return CompletableFuture.completedFuture(found);
        }
      }
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

  private static List<PulledJob> takeDue(Session session, QueueName queue, PullRequest request) {
    Optional<QueueLanes> lanes = session.queues().find(queue);
    if (lanes.isEmpty()) {
      return List.of();
    }
    List<PulledJob> found = new ArrayList<>();
    List<Lane> inAnyOrder = new ArrayList<>(lanes.get().lanes);
    Collections.shuffle(inAnyOrder);
    for (Lane lane : inAnyOrder) {
      if (found.size() < request.max()) {
        Claim claim = lane.puller.claim(request, request.max() - found.size());
        session.context().contact().answered(session.context().now());
        // Its lease is one more that may have to be taken back.
        Long deadline = claim.nextDeadline();
        if (deadline != null && !claim.jobs().isEmpty()) {
          lane.bell.deadline(deadline);
        }
        List<PulledJob> open = lane.puller.open(claim, request);
        // Until now nobody had asked for them.
        lane.puller.handedOut(claim, new ClaimTime(0, claim.now(), 0));
        found.addAll(open);
      }
    }
    return found;
  }

  @Override
  public List<QueueName> paused(List<QueueName> queues) {
    Queues known = sessions.get().queues();
    return queues.stream()
        .filter(
            queue ->
                known
                    .find(queue)
                    .filter(
                        found ->
                            found.lanes.stream()
                                .anyMatch(lane -> jobs.stats(lane.bucket).pausedSince() != null))
                    .isPresent())
        .toList();
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

  /** The job if it is reserved in that incarnation; whether by this token, only the store knows. */
  private Optional<JobView> held(Lane lane, ClaimToken token) {
    return jobs.find(lane.bucket, token.taskId())
        .map(job -> Views.job(token.queue(), job))
        .filter(
            job ->
                job.state() == JobState.RESERVED && token.incarnation().equals(job.incarnation()));
  }

  private CompletableFuture<Settled> settle(
      Settlement.Op op, ClaimToken token, Duration delay, @Nullable Note note) {
    Optional<Lane> found = lane(token);
    if (found.isEmpty()) {
      return op == Settlement.Op.ACK ? GONE : LOST;
    }
    Lane lane = found.get();
    return lane.finisher
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
